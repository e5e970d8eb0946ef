"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const estimated = data.run.estimated;
  const units = [[3.6e4, 3.6e3, "Wh"], [1e3, 1e3, "kJ"], [1, 1, "J"], [1e-3, 1e-3, "mJ"], [1e-6, 1e-6, "µJ"], [0, 1e-9, "nJ"]];

  function plainJoules(value) {
    if (value === 0) return "0 J";
    const [, factor, unit] = units.find(([least]) => Math.abs(value) >= least);
    return (value / factor).toPrecision(3) + " " + unit;
  }
  const joules = (value) => (estimated ? "≈ " : "") + plainJoules(value);

  const seconds = (value) => (value >= 1e-3 || value === 0 ? value.toPrecision(3) : value.toExponential(1));

  function element(name, parent, text, className) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text; // never markup: file names and APIs come from a database
    if (className) made.className = className;
    parent.appendChild(made);
    return made;
  }

  const colour = (name) => getComputedStyle(document.body).getPropertyValue("--" + name).trim();
  // The hungriest APIs have colours that the colour-blind tell apart too (Okabe and Ito); the others share a grey.
  const palette = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#b8a900"];
  const ranked = [...new Set(data.calls.map((call) => call.api))];
  const colourOf = (api) => palette[ranked.indexOf(api)] ?? "#8c8c8c";
  const width = () => Math.max(320, document.getElementById("power").clientWidth);
  const sync = { key: "time", setSeries: false };
  const last = Math.max(1e-9, ...data.traces.map((trace) => trace.seconds[trace.seconds.length - 1] ?? 0), ...data.spans.map((span) => span[5]));
  const axisLook = () => ({ stroke: colour("ink"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line") } });

  function powerChart() {
    const place = document.getElementById("power");
    if (data.traces.length === 0) {
      element("p", place, "This run kept no power trace.", "note");
      return null;
    }
    // One time axis for all devices: each has its own instants, gaps are joined.
    const tables = data.traces.map((trace) => [trace.seconds, trace.watts]);
    return new uPlot({
      width: width(), height: 260, padding: [16, 24, 0, 0], cursor: { sync },
      scales: { x: { time: false, range: [0, last] } },
      axes: [{ ...axisLook(), label: "seconds" }, { ...axisLook(), label: estimated ? "watts (estimated)" : "watts" }],
      series: [{ label: "seconds" }, ...data.traces.map((trace) => ({ label: trace.device, stroke: colour(trace.device), width: 1.5, spanGaps: true, points: { show: false } }))],
    }, uPlot.join(tables), place);
  }

  function lanes(spans) {
    // Overlapping calls (nested, or of other threads) go to the next free lane.
    const ends = [];
    return spans.map((span) => {
      let lane = ends.findIndex((end) => end <= span[4]);
      if (lane === -1) lane = ends.length;
      ends[lane] = span[5];
      return lane;
    });
  }

  function spanChart() {
    if (data.spans.length === 0) return null;
    const spans = [...data.spans].sort((left, right) => left[4] - right[4]);
    const lane = lanes(spans);
    const depth = Math.min(12, Math.max(...lane) + 1);
    const pointed = document.getElementById("pointed");

    function draw(chart) {
      const { ctx, bbox } = chart;
      const height = bbox.height / depth;
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      spans.forEach((span, index) => {
        const left = chart.valToPos(span[4], "x", true);
        const right = chart.valToPos(span[5], "x", true);
        ctx.fillStyle = colourOf(span[0]);
        ctx.fillRect(left, bbox.top + Math.min(lane[index], depth - 1) * height + 1, Math.max(1, right - left), height - 2);
      });
      ctx.restore();
    }

    function point(chart) {
      const { left, top } = chart.cursor;
      if (left === undefined || left < 0) { pointed.textContent = ""; return; }
      const time = chart.posToVal(left, "x");
      const row = Math.floor((top / chart.over.clientHeight) * depth);
      const index = spans.findIndex((span, at) => span[4] <= time && time <= span[5] && Math.min(lane[at], depth - 1) === row);
      pointed.textContent = index === -1 ? "" : `${spans[index][0]} · ${spans[index][1]}:${spans[index][2]} · ${((spans[index][5] - spans[index][4]) * 1e3).toPrecision(3)} ms`;
    }

    return new uPlot({
      width: width(), height: 24 + 22 * depth, padding: [8, 24, 8, 0], cursor: { sync, y: true }, legend: { show: false },
      scales: { x: { time: false, range: [0, last] }, y: { range: [0, depth] } },
      axes: [{ show: false }, { ...axisLook(), label: "calls", values: () => [] }],
      series: [{}, { stroke: "transparent", points: { show: false } }],
      hooks: { draw: [draw], setCursor: [point] },
    }, [[0, last], [0, 0]], document.getElementById("spans"));
  }

  function total() {
    const place = document.getElementById("total");
    const whole = data.run.total;
    const known = data.calls.reduce((sum, call) => sum + (call.exclusive ?? call.joules ?? 0), 0);
    if (whole === null || whole <= 0) {
      element("p", place, `Calls: ${joules(known)}. The energy of the whole program is not known.`, "note");
      return;
    }
    const frame = element("div", place, undefined, "whole");
    for (const call of data.calls) {
      const share = (call.exclusive ?? call.joules ?? 0) / Math.max(whole, known);
      if (share <= 0) continue;
      const part = element("div", frame);
      part.style.width = `${100 * share}%`;
      part.style.background = colourOf(call.api);
      part.title = `${call.api}: ${joules(call.exclusive ?? call.joules)}`;
    }
    element("div", frame, undefined, "rest").title = "not in any call: imports, Python itself, data";
    const rest = data.run.unaccounted ?? whole - known;
    element("p", place, `Program: ${joules(whole)} in ${data.run.seconds.toFixed(2)} s · calls: ${joules(known)} (${((100 * known) / whole).toFixed(0)}%) · in no call (imports, Python itself): ${joules(rest)}`, "note");
  }

  function calls() {
    const table = document.getElementById("calls");
    const head = element("tr", element("thead", table));
    [["call", ""], [estimated ? "energy (estimated)" : "energy", "number"], ["95% interval", "number interval"], ["calls", "number"], ["seconds", "number"]].forEach(([title, kind]) => element("th", head, title, kind));
    const body = element("tbody", table);
    const most = Math.max(...data.calls.map((call) => call.joules ?? 0), 1e-12);
    for (const call of data.calls) {
      const row = element("tr", body);
      const name = element("td", row, undefined, "api");
      element("span", name, undefined, "swatch").style.background = colourOf(call.api);
      element("span", name, call.api + (call.traced ? " (while tracing)" : ""));
      element("div", name, `${call.file}:${call.line} · ${call.method}`, "place");
      if (call.joules !== null) {
        const bar = element("span", name, undefined, "bar");
        bar.style.width = `${(100 * call.joules) / most}%`;
        bar.style.background = colourOf(call.api);
      }
      element("td", row, call.joules === null ? "not resolved" : joules(call.joules), "number");
      element("td", row, call.low === null || call.high === null ? "" : `${plainJoules(call.low)} to ${plainJoules(call.high)}`, "number interval");
      element("td", row, String(call.count), "number");
      element("td", row, seconds(call.seconds), "number");
    }
  }

  let charts = [];
  function plot() {
    charts.forEach((chart) => chart.destroy());
    charts = [powerChart(), spanChart()].filter(Boolean);
  }
  plot();
  total();
  calls();
  window.addEventListener("resize", () => charts.forEach((chart) => chart.setSize({ width: width(), height: chart.height })));
  // The editor changes its theme by the body's class.
  new MutationObserver(plot).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", plot);
})();
