"use strict";
// What all parts of the page share: the data, units, elements, links to the source.
const page = (function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const estimated = data.run.estimated;
  const mark = estimated ? "≈ " : "";
  const units = [[1e3, "kJ"], [1, "J"], [1e-3, "mJ"], [1e-6, "µJ"]];

  const unitFor = (value) => units.find(([least]) => Math.abs(Number(value.toPrecision(3))) >= least) ?? units[3];

  function plainJoules(value) {
    if (value === 0) return "0 J";
    if (value < 0) return "about 0 J"; // less than the meter can tell from nothing
    const [factor, unit] = unitFor(value);
    return digits(value / factor) + " " + unit;
  }
  function digits(value) {
    const rounded = Number(value.toPrecision(3));
    if (rounded === 0) return "0";
    return rounded.toFixed(Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(Math.abs(rounded))))));
  }
  const joules = (value) => mark + plainJoules(value);
  /** A share of a whole; what is there is never 0.0%. */
  const percent = (share) => (share > 0 && share < 0.0005 ? "< 0.1%" : `${(100 * Math.max(0, share)).toFixed(1)}%`);
  /** A duration in the unit that fits. */
  function duration(seconds) {
    const [factor, unit] = [[1, "s"], [1e-3, "ms"]].find(([least]) => Number(seconds.toPrecision(3)) >= least) ?? [1e-6, "µs"];
    return digits(seconds / factor) + " " + unit;
  }

  /** One unit for a column: that of its largest value. */
  function column(values) {
    const known = values.filter((value) => value !== null && value !== undefined);
    const [factor, unit] = unitFor(known.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-12));
    return {
      unit,
      text(value) {
        const scaled = value / factor;
        if (value < 0) return "≈ 0";
        if (scaled > 0 && scaled < 0.001) return "< 0.001";
        return scaled.toFixed(scaled < 10 ? 3 : scaled < 100 ? 2 : scaled < 1000 ? 1 : 0);
      },
    };
  }

  function element(name, parent, text, className) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text; // never markup: file names and APIs come from a database
    if (className) made.className = className;
    parent.appendChild(made);
    return made;
  }

  function svgElement(name, parent, attributes) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    parent.appendChild(made);
    return made;
  }

  /** A place in the source, as a link into the editor where the page knows where the project lies. */
  function place(parent, file, line, after = "") {
    const text = `${file}:${line}`;
    const absolute = /^(\/|[A-Za-z]:)/.test(file) ? file : data.project ? `${data.project}/${file}` : "";
    const span = element("div", parent, undefined, "place");
    if (absolute && data.project && line) {
      const link = element("a", span, text);
      const path = absolute.replace(/\\/g, "/").replace(/^\//, "").split("/").map(encodeURIComponent).join("/");
      link.href = `vscode://file/${path.replace(/^([A-Za-z])%3A/, "$1:")}:${line}`;
      link.setAttribute("aria-label", `Open ${text} in the editor`);
    } else element("span", span, text);
    if (after) element("span", span, after);
    return span;
  }

  const counted = (amount, noun) => `${amount.toLocaleString("en")} ${noun}${amount === 1 ? "" : "s"}`;
  const colour = (name) => getComputedStyle(document.body).getPropertyValue("--" + name).trim();
  // The costliest APIs have colours that the colour-blind tell apart too (Okabe and Ito); the others share a grey.
  const palette = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#b8a900"];
  const ranked = [...new Set(data.calls.map((call) => call.api))];
  const colours = new Map(ranked.slice(0, palette.length).map((api, index) => [api, palette[index]]));
  const colourOf = (api) => colours.get(api) ?? "#8c8c8c";
  /** Black or white, whichever is read better on a colour: the WCAG's contrast. */
  function inkOn(shade) {
    const [red, green, blue] = [1, 3, 5].map((at) => parseInt(shade.slice(at, at + 2), 16) / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000" : "#fff";
  }
  const shortName = (api) => api.slice(api.lastIndexOf(".") + 1);

  const passColours = { forward: "#0072b2", backward: "#e69f00", optimizer: "#cc79a7", loss: "#b8a900", input: "#009e73", runtime: "#8c8c8c" };
  return { data, estimated, mark, plainJoules, joules, percent, duration, column, element, svgElement, place, counted, colour, colourOf, inkOn, passColours, palette, shortName };
})();
