"use strict";
// Phases, sum, table of calls, history, and what the energy is in other terms.
(function () {
  const { data, estimated, mark, joules, percent, plainJoules, column, element, svgElement, place, counted, colourOf, inkOn, palette } = page;
  const whole = data.run.total;
  const phaseColours = { imports: "#8c8c8c", data: "#009e73", tracing: "#cc79a7", calls: "#0072b2", compiled: "#56b4e9", iteration: "#33a02c", callbacks: "#e69f00", python: "#b8a900", exit: "#666666", children: "#d55e00", unexplained: "#bdbdbd" };
  const methods = { "in place": "as it ran", replayed: "repeated alone", imported: "imported" };

  function headline() {
    if (whole === null) return;
    const hours = whole >= 1000 ? ` (${(whole / 3600).toPrecision(3)} Wh)` : "";
    document.getElementById("headline").textContent = `${joules(whole)}${hours} above idle in ${data.run.seconds.toFixed(2)} s`;
  }

  /** A bar of parts that add up; what it says in a word for those who do not see it. */
  function bar(parent, parts, label) {
    const frame = element("div", parent, undefined, "whole");
    frame.setAttribute("role", "img");
    frame.setAttribute("aria-label", label);
    const sum = parts.reduce((all, [, value]) => all + Math.max(0, value), 0) || 1;
    for (const [name, value, shade] of parts) {
      if (value <= 0) continue;
      const part = element("div", frame, value / sum > 0.09 ? name : "");
      part.style.width = `${(100 * value) / sum}%`;
      if (shade) Object.assign(part.style, { background: shade, color: inkOn(shade) });
      else part.className = "rest";
      part.title = `${name}: ${joules(value)}, ${percent(value / sum)}`;
    }
  }

  function cells(row, ...texts) {
    texts.forEach(([text, label, className]) => { element("td", row, text, className).dataset.label = label; });
  }

  /** One run says nothing of how runs differ, unless the machine's usual spread is in its interval. */
  function intervalText(call, each) {
    if (call.low === null || call.high === null) return "";
    if (call.covers === "sampling") return "one run";
    const text = `${each.text(call.low)} to ${each.text(call.high)}`;
    return call.covers === "runs of this machine" ? `one run, usually ${text}` : text;
  }

  function phases() {
    const parent = document.getElementById("phases");
    const known = data.phases.filter(([name, value]) => value !== 0 || name === "unexplained");
    if (known.length === 0 || !whole) {
      document.getElementById("phases").closest("section").remove();
      return;
    }
    const words = known.map(([name, value]) => `${name} ${percent(value / whole)}`).join(", ");
    bar(parent, known.map(([name, value]) => [name, value, phaseColours[name]]), `Energy by phase: ${words}`);
    const scale = column(known.map(([, value]) => value));
    const energy = `${mark}energy, ${scale.unit}`;
    const table = element("table", parent, undefined, "stack");
    table.setAttribute("aria-labelledby", "phases-title");
    const head = element("tr", element("thead", table));
    [["phase", ""], [energy, "number"], ["share", "number"], ["seconds", "number"], ["most of it", ""]].forEach(([title, kind]) => { element("th", head, title, kind).scope = "col"; });
    const body = element("tbody", table);
    for (const [name, value, seconds, detail] of known) {
      const row = element("tr", body);
      const title = element("th", row);
      title.scope = "row";
      element("span", title, undefined, "swatch").style.background = phaseColours[name] ?? "#8c8c8c";
      element("span", title, name);
      const most = detail.map(([part, own]) => `${part} ${plainJoules(own)}`).join(", ");
      cells(row, [scale.text(value), energy, "number"], [percent(value / whole), "share", "number"], [seconds.toFixed(2), "seconds", "number"], [most, "most of it", ""]);
    }
  }

  function total() {
    const parent = document.getElementById("total");
    const known = data.calls.reduce((sum, call) => sum + (call.exclusive ?? call.joules ?? 0), 0);
    if (whole === null || whole <= 0) {
      element("p", parent, `Calls: ${joules(known)}. The energy of the whole program is not known.`, "note");
      return;
    }
    const rest = data.run.unaccounted ?? whole - known;
    const parts = data.calls.slice(0, palette.length).map((call) => [call.api, call.exclusive ?? call.joules ?? 0, colourOf(call.api)]);
    const others = data.calls.slice(palette.length).reduce((sum, call) => sum + (call.exclusive ?? call.joules ?? 0), 0);
    const words = `Program: ${joules(whole)} in ${data.run.seconds.toFixed(2)} s · calls: ${joules(known)} (${((100 * known) / whole).toFixed(0)}%) · in no call (imports, Python itself): ${joules(rest)}`;
    bar(parent, [...parts, ["other calls", others, "#8c8c8c"], ["in no call", Math.max(0, rest), ""]], words);
    element("p", parent, words, "note");
  }

  const shownAtFirst = 25; // what lies below the table, the history, stays within reach
  function calls() {
    const table = document.getElementById("calls");
    const filter = document.getElementById("calls-filter");
    const more = document.getElementById("calls-more");
    const count = document.getElementById("calls-count");
    const each = column(data.calls.map((call) => (call.joules === null ? null : call.joules / call.count)));
    const every = column(data.calls.map((call) => call.joules));
    const columns = [
      ["call", "", (call) => call.api.toLowerCase()],
      [`${mark}energy, ${every.unit}`, "number", (call) => call.joules ?? -1],
      ["share", "number", (call) => call.joules ?? -1],
      [`each, ${each.unit}`, "number", (call) => (call.joules ?? -1) / call.count],
      ["95% interval", "number interval", (call) => call.low ?? -1],
      ["calls", "number", (call) => call.count],
      ["seconds", "number", (call) => call.seconds],
    ];
    let sorted = 1;
    let downwards = true;
    let everything = false;
    const head = element("tr", element("thead", table));
    const titles = columns.map(([title, kind], index) => {
      const cell = element("th", head, undefined, kind);
      cell.scope = "col";
      const button = element("button", cell, title, "sort");
      button.addEventListener("click", () => {
        downwards = sorted === index ? !downwards : index !== 0;
        sorted = index;
        fill();
      });
      return cell;
    });
    const body = element("tbody", table);
    const most = data.calls.reduce((all, call) => Math.max(all, call.joules ?? 0), 1e-12);

    function fill() {
      titles.forEach((cell, index) => cell.setAttribute("aria-sort", index === sorted ? (downwards ? "descending" : "ascending") : "none"));
      const wanted = filter.value.toLowerCase();
      const found = data.calls.filter((call) => `${call.api} ${call.file}:${call.line}`.toLowerCase().includes(wanted));
      const key = columns[sorted][2];
      found.sort((left, right) => (key(left) < key(right) ? -1 : key(left) > key(right) ? 1 : 0) * (downwards ? -1 : 1));
      const shown = everything ? found : found.slice(0, shownAtFirst);
      body.replaceChildren(...shown.map(line));
      more.hidden = shown.length === found.length;
      more.textContent = `Show all ${counted(found.length, "place")}`;
      const sum = found.reduce((all, call) => all + (call.exclusive ?? call.joules ?? 0), 0);
      count.textContent = wanted ? `${counted(found.length, "place")} of ${data.calls.length}, ${joules(sum)}` : counted(found.length, "place");
      page.highlight(wanted ? (span) => `${span[0]} ${span[1]}:${span[2]}`.toLowerCase().includes(wanted) : null);
    }

    function line(call) {
      const row = document.createElement("tr");
      const name = element("td", row, undefined, "api");
      element("span", name, undefined, "swatch").style.background = colourOf(call.api);
      element("span", name, call.api + (call.traced ? " (while tracing)" : ""));
      place(name, call.file, call.line, ` · ${methods[call.method] ?? call.method}`);
      if (call.joules !== null) {
        const own = element("span", name, undefined, "bar");
        own.style.width = `${Math.max(0, (100 * call.joules) / most)}%`;
        own.style.background = colourOf(call.api);
      }
      const known = call.joules !== null;
      cells(row,
        [known ? every.text(call.joules) : "too little to tell", `${mark}energy, ${every.unit}`, "number"],
        [known && whole ? percent(call.joules / whole) : "", "share", "number"],
        [known ? each.text(call.joules / call.count) : "", `each, ${each.unit}`, "number"],
        [intervalText(call, each), "95% interval", "number interval"],
        [call.count.toLocaleString("en"), "calls", "number"],
        [call.seconds > 0 && call.seconds < 1e-3 ? "< 0.001" : call.seconds.toFixed(3), "seconds", "number"]);
      return row;
    }

    filter.addEventListener("input", fill);
    more.addEventListener("click", () => { everything = true; fill(); });
    page.showCall = (api, file, number) => {
      filter.value = `${api} ${file}:${number}`;
      if (!data.calls.some((call) => call.api === api && call.file === file && call.line === number)) filter.value = api;
      fill();
      document.getElementById("calls-section").scrollIntoView({ behavior: "smooth" });
    };
    fill();
  }

  function history() {
    const parent = document.getElementById("history");
    const known = data.history.filter(([, , value]) => value !== null);
    if (known.length < 2) {
      document.getElementById("history-section").remove();
      return;
    }
    const most = known.reduce((all, [, , value]) => Math.max(all, value), 1e-12);
    const [wide, high, step] = [Math.max(200, known.length * 26), 120, Math.max(200, known.length * 26) / known.length];
    const words = `Energy of ${counted(known.length, "run")}, from ${joules(known[0][2])} on ${known[0][0].slice(0, 10)} to ${joules(known[known.length - 1][2])} on ${known[known.length - 1][0].slice(0, 10)}`;
    const drawing = svgElement("svg", parent, { viewBox: `0 0 ${wide} ${high + 20}`, role: "img", "aria-label": words, class: "history" });
    known.forEach(([started, commit, value, mine], index) => {
      const tall = Math.max(1, (high * value) / most);
      const shape = svgElement("rect", drawing, { x: index * step + 2, y: high - tall, width: Math.max(2, step - 4), height: tall, class: mine ? "mine" : "other" });
      svgElement("title", shape, {}).textContent = `${started.slice(0, 16).replace("T", " ")}${commit ? " · " + commit : ""}: ${joules(value)}`;
      if (commit && step > 24 && index % Math.ceil(60 / step) === 0) svgElement("text", drawing, { x: index * step + 2, y: high + 14 }).textContent = commit.slice(0, 7);
    });
    element("p", parent, `${words}. The run of this page is the dark one; all are of one machine and meter.`, "note");
    const hidden = element("details", parent);
    element("summary", hidden, "The same as a table");
    const table = element("table", hidden, undefined, "stack");
    const scale = column(known.map(([, , value]) => value));
    const head = element("tr", element("thead", table));
    ["when (UTC)", "commit", `${mark}energy, ${scale.unit}`].forEach((title) => { element("th", head, title).scope = "col"; });
    const body = element("tbody", table);
    for (const [started, commit, value] of known) cells(element("tr", body), [started.slice(0, 16).replace("T", " "), "when", ""], [commit || "none", "commit", ""], [scale.text(value), `${mark}energy, ${scale.unit}`, ""]);
  }

  function footprint() {
    if (data.footprint.length === 0) {
      document.getElementById("footprint-section").remove();
      return;
    }
    for (const sentence of data.footprint) element("p", document.getElementById("footprint"), sentence);
  }

  headline();
  phases();
  total();
  calls();
  history();
  footprint();
})();
