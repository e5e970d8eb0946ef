"use strict";
// Power over time and the calls under it, on one axis: zoom, pan, reset, by mouse, touch and keyboard.
(function () {
  const { data, estimated, duration, element, colour, colourOf, inkOn, passColours, shortName, counted } = page;
  const box = document.getElementById("time");
  const width = () => Math.max(280, document.getElementById("power").clientWidth);
  const largest = (values) => values.reduce((most, value) => Math.max(most, value), 1e-9);
  const whole = largest([...data.traces.map((trace) => trace.seconds[trace.seconds.length - 1] ?? 0), ...data.spans.map((span) => span[5])]);
  const shortest = whole / 1e6;
  let view = [0, whole];
  let charts = [];
  let chosen = null;

  const axisLook = () => ({ stroke: colour("ink"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line") } });
  const cursor = () => ({ sync: { key: "time", setSeries: false }, drag: { x: true, y: false, setScale: false }, y: false });

  let waiting = false;
  /** Look at another stretch of time; what is drawn follows once a frame. */
  function look(from, to) {
    const length = Math.min(whole, Math.max(shortest, to - from));
    const start = Math.min(Math.max(0, from), whole - length);
    view = [start, start + length];
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      charts.forEach((chart) => chart.setScale("x", { min: view[0], max: view[1] }));
      tools.update();
    });
  }
  function zoom(factor, at = (view[0] + view[1]) / 2) {
    look(at - (at - view[0]) * factor, at + (view[1] - at) * factor);
  }
  const pan = (part) => look(view[0] + part * (view[1] - view[0]), view[1] + part * (view[1] - view[0]));

  const tools = (function () {
    const bar = box.querySelector(".tools");
    const buttons = [
      ["−", "Zoom out", () => zoom(2)], ["+", "Zoom in", () => zoom(0.5)],
      ["◀", "Earlier", () => pan(-0.5)], ["▶", "Later", () => pan(0.5)],
      ["Reset", "Show the whole run", () => look(0, whole)],
    ].map(([text, label, does]) => {
      const button = element("button", bar, text);
      button.setAttribute("aria-label", label);
      button.title = label;
      button.addEventListener("click", does);
      return button;
    });
    const shown = element("span", bar, "", "note");
    return {
      update() {
        const all = view[1] - view[0] >= whole * 0.999999;
        buttons[0].disabled = buttons[2].disabled = buttons[3].disabled = buttons[4].disabled = all;
        shown.textContent = all ? `${whole.toPrecision(3)} s` : `${seconds(view[0])} to ${seconds(view[1])} of ${whole.toPrecision(3)} s`;
      },
    };
  })();
  function seconds(value) {
    const length = view[1] - view[0];
    return value.toFixed(Math.max(0, Math.min(9, 2 - Math.floor(Math.log10(length)))));
  }

  // Dragging marks a stretch to zoom into; with Shift it moves what is seen.
  function listen(chart) {
    const over = chart.over;
    over.addEventListener("wheel", (event) => {
      const at = chart.posToVal(event.offsetX, "x");
      if (event.ctrlKey || event.metaKey) zoom(Math.exp(event.deltaY * 0.004), at);
      else if (view[1] - view[0] < whole * 0.999999) pan((event.deltaX || event.deltaY) / over.clientWidth);
      else return; // the whole run is seen: the page scrolls
      event.preventDefault();
    }, { passive: false });
    over.addEventListener("mousedown", (event) => {
      if (!event.shiftKey) return;
      event.stopImmediatePropagation();
      event.preventDefault();
      let last = event.clientX;
      const move = (moved) => { pan((last - moved.clientX) / over.clientWidth); last = moved.clientX; };
      const stop = () => { document.removeEventListener("mousemove", move); document.removeEventListener("mouseup", stop); };
      document.addEventListener("mousemove", move);
      document.addEventListener("mouseup", stop);
    }, true);
    over.addEventListener("dblclick", () => look(0, whole));
    // Two fingers zoom, one pans.
    let fingers = [];
    over.addEventListener("touchstart", (event) => { fingers = [...event.touches].map((one) => one.clientX); }, { passive: true });
    over.addEventListener("touchmove", (event) => {
      const now = [...event.touches].map((one) => one.clientX);
      if (now.length === 2 && fingers.length === 2) {
        event.preventDefault();
        zoom(Math.max(1, Math.abs(fingers[0] - fingers[1])) / Math.max(1, Math.abs(now[0] - now[1])));
      } else if (now.length === 1 && view[1] - view[0] < whole * 0.999999) pan((fingers[0] - now[0]) / over.clientWidth);
      fingers = now;
    }, { passive: false });
  }
  function selected(chart) {
    const { left, width: wide } = chart.select;
    if (wide > 3) look(chart.posToVal(left, "x"), chart.posToVal(left + wide, "x"));
    chart.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
  }
  box.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const does = { w: () => zoom(0.7), "+": () => zoom(0.7), ArrowUp: () => zoom(0.7), s: () => zoom(1.4), "-": () => zoom(1.4), ArrowDown: () => zoom(1.4), a: () => pan(-0.2), ArrowLeft: () => pan(-0.2), d: () => pan(0.2), ArrowRight: () => pan(0.2), 0: () => look(0, whole), Home: () => look(0, whole), Escape: () => look(0, whole) }[event.key];
    if (!does) return;
    event.preventDefault();
    does();
  });

  function powerChart() {
    const parent = document.getElementById("power");
    if (data.traces.length === 0) {
      if (!parent.firstChild) element("p", parent, "This run kept no power trace.", "note");
      return null;
    }
    // One time axis for all devices: each has its own instants, gaps are joined.
    return new uPlot({
      width: width(), height: 220, padding: [16, 16, 0, 0], cursor: cursor(),
      scales: { x: { time: false, auto: false, range: () => view }, y: { range: [0, 1.05 * largest(data.traces.map((trace) => largest(trace.watts)))] } },
      axes: [{ ...axisLook(), label: "seconds" }, { ...axisLook(), label: estimated ? "watts (estimated)" : "watts" }],
      series: [{ label: "seconds" }, ...data.traces.map((trace) => ({ label: trace.device, stroke: colour(trace.device), width: 1.5, spanGaps: true, points: { show: false } }))],
      hooks: { setSelect: [selected], ready: [listen] },
    }, uPlot.join(data.traces.map((trace) => [trace.seconds, trace.watts])), parent);
  }

  // Calls, under them the steps inside of calls, and the layers inside of steps; of steps and layers some are known.
  const kindOf = (span) => /^(step|layer):/.exec(span[0])?.[1] ?? "call";
  const nameOf = (span) => (kindOf(span) === "call" ? span[0] : span[0].replace(/^(step|layer):/, ""));
  const passOf = (span) => (kindOf(span) === "layer" ? nameOf(span).split(" · ").pop() : "");
  const shown = (span) => (kindOf(span) === "call" ? shortName(span[0]) : nameOf(span).split("/").pop());
  const calls = data.spans.filter((span) => kindOf(span) === "call");
  const lanes = [...inLanes(calls, 24), ...inLanes(data.spans.filter((span) => kindOf(span) === "step"), 4), ...inLanes(data.spans.filter((span) => kindOf(span) === "layer"), 8)];
  /** What overlaps (nested, or of other threads) goes to the next free lane; in a lane spans follow each other. */
  function inLanes(spans, most) {
    const found = [];
    for (const span of [...spans].sort((left, right) => left[4] - right[4])) {
      let lane = found.find((one) => one[one.length - 1][5] <= span[4]);
      if (lane === undefined) {
        if (found.length < most) found.push((lane = []));
        else lane = found[most - 1];
      }
      lane.push(span);
    }
    return found;
  }
  /** The first call of a lane that ends after a moment. */
  function first(lane, time) {
    let [low, high] = [0, lane.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lane[middle][5] < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function spanChart() {
    if (data.spans.length === 0) return null;
    const depth = lanes.length;
    const pointed = document.getElementById("pointed");

    function draw(chart) {
      const { ctx, bbox } = chart;
      const height = bbox.height / depth;
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
      ctx.textBaseline = "middle";
      ctx.textAlign = "left"; // the axes leave it otherwise
      const scale = bbox.width / (view[1] - view[0]);
      lanes.forEach((lane, number) => {
        const top = bbox.top + number * height + 1;
        let drawn = -1; // the last pixel that is painted: what would only be painted over it is left out
        for (let index = first(lane, view[0]); index < lane.length && lane[index][4] <= view[1]; index++) {
          const span = lane[index];
          const left = Math.round(bbox.left + (span[4] - view[0]) * scale);
          const right = Math.max(left + 1, Math.round(bbox.left + (span[5] - view[0]) * scale));
          if (right <= drawn) continue;
          const from = Math.max(left, drawn);
          ctx.fillStyle = passColours[passOf(span)] ?? colourOf(span[0]);
          ctx.globalAlpha = chosen === null || chosen(span) ? 1 : 0.3;
          ctx.fillRect(from, top, right - from, height - 2);
          drawn = right;
          if (right - left > 46 * devicePixelRatio) {
            ctx.fillStyle = inkOn(ctx.fillStyle);
            const visible = Math.max(left, bbox.left);
            const room = Math.min(right, bbox.left + bbox.width) - visible - 8;
            const name = shown(span);
            if (ctx.measureText(name).width <= room) ctx.fillText(name, visible + 4, top + height / 2 - 1);
          }
        }
      });
      ctx.restore();
    }

    function under(chart) {
      const { left, top } = chart.cursor;
      if (left === undefined || left < 0) return undefined;
      const lane = lanes[Math.min(depth - 1, Math.max(0, Math.floor((top / chart.over.clientHeight) * depth)))];
      const time = chart.posToVal(left, "x");
      const reach = (2 * (view[1] - view[0])) / chart.over.clientWidth;
      const span = lane[first(lane, time - reach)];
      return span && span[4] <= time + reach ? span : undefined;
    }
    const words = (span) => `${kindOf(span) === "call" ? "" : kindOf(span) + " "}${nameOf(span)}${span[2] ? ` · ${span[1]}:${span[2]}` : ""} · ${duration(span[5] - span[4])}, from ${span[4].toFixed(4)} s on`;
    const point = (chart) => { const span = under(chart); pointed.textContent = span ? words(span) : ""; };

    const chart = new uPlot({
      width: width(), height: 24 + 22 * depth, padding: [8, 16, 8, 0], cursor: cursor(), legend: { show: false },
      scales: { x: { time: false, auto: false, range: () => view }, y: { range: [0, depth] } },
      axes: [{ show: false }, { ...axisLook(), label: calls.length === data.spans.length ? "calls" : "calls, steps, layers", values: () => [] }],
      series: [{}, { stroke: "transparent", points: { show: false } }],
      hooks: { draw: [draw], setCursor: [point], setSelect: [selected], ready: [listen] },
    }, [[0, whole], [0, 0]], document.getElementById("spans"));
    chart.over.addEventListener("click", () => {
      const span = under(chart);
      if (span && kindOf(span) === "call") page.showCall?.(span[0], span[1], span[2]);
    });
    return chart;
  }

  /** Let the calls of one place stand out; nothing: all of them. */
  page.highlight = (wanted) => {
    chosen = wanted;
    charts.forEach((chart) => chart.redraw(false));
  };

  function asText() {
    const told = data.traces.map((trace) => {
      const mean = trace.watts.reduce((sum, value) => sum + value, 0) / Math.max(1, trace.watts.length);
      return `${trace.device}: ${mean.toPrecision(3)} W on average, ${largest(trace.watts).toPrecision(3)} W at most, over ${whole.toPrecision(3)} s.`;
    });
    const longest = [...calls].sort((left, right) => right[5] - right[4] - (left[5] - left[4])).slice(0, 5);
    if (longest.length) told.push(`${counted(calls.length, "call")} on the time line; the longest: ${longest.map((span) => `${span[0]} (${span[1]}:${span[2]}) from ${span[4].toFixed(2)} to ${span[5].toFixed(2)} s`).join(", ")}.`);
    const inside = data.spans.length - calls.length;
    if (inside) told.push(`${inside} steps and layers inside of them are seen when zoomed in.`);
    document.getElementById("time-text").textContent = told.join(" ") || "No power trace and no calls were kept.";
  }

  function plot() {
    charts.forEach((chart) => chart.destroy());
    charts = [powerChart(), spanChart()].filter(Boolean);
    look(...view);
  }
  page.view = () => view;
  plot();
  asText();
  window.addEventListener("resize", () => charts.forEach((chart) => chart.setSize({ width: width(), height: chart.height })));
  // The editor changes its theme by the body's class.
  new MutationObserver(plot).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", plot);
})();
