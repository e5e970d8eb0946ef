"use strict";
(function () {
  const { data, passColours, joules, percent, column, counted, element, inkOn, svgElement, place: placeOf } = page;
  const inside = data.inside;
  const section = document.getElementById("inside");
  if (!inside) {
    section.remove();
    return;
  }
  document.getElementById("inside-note").textContent = inside.note + " Apportioned among operations, not metered by layer.";

  // What the colours of boxes and bars mean.
  const legend = document.getElementById("inside-legend");
  const passes = new Set(inside.parts.map(([, , pass]) => pass));
  for (const [pass, shade] of Object.entries(passColours).filter(([name]) => passes.has(name))) {
    const entry = element("span", legend);
    element("span", entry, undefined, "swatch").style.background = shade;
    element("span", entry, pass);
  }

  // Call → blocks → layer → pass → operation.
  const root = { name: "all calls", joules: 0, children: new Map(), pass: "", place: "" };
  function child(node, name, pass, place) {
    if (!node.children.has(name)) node.children.set(name, { name, joules: 0, children: new Map(), pass, place, parent: node });
    return node.children.get(name);
  }
  for (const [call, path, pass, kind, place, own, operations] of inside.parts) {
    const layered = pass === "forward" || pass === "backward";
    const names = [call, ...(layered ? path.split("/") : [pass, path])];
    let at = root;
    at.joules += own;
    names.forEach((name, index) => {
      at = child(at, name, layered ? "" : pass, index === names.length - 1 ? place : "");
      at.joules += own;
    });
    if (layered) {
      at = child(at, pass, pass, kind);
      at.joules += own;
    }
    for (const [operation, part] of operations) child(at, operation, pass, "").joules += part;
  }
  const icicle = document.getElementById("icicle");
  const pointed = document.getElementById("inside-pointed");
  const search = document.getElementById("inside-search");
  const row = 22;
  let focus = root;
  const fullName = (node) => (node.parent ? (node.parent === root ? "" : fullName(node.parent) + " / ") + node.name : node.name);
  function drawIcicle() {
    icicle.replaceChildren();
    const wanted = search.value.toLowerCase();
    const width = Math.max(320, icicle.clientWidth);
    let depth = 0;
    const place = (node, x, wide, level) => {
      if (wide < 2) return;
      depth = Math.max(depth, level);
      const box = element("button", icicle, wide > 40 ? node.name : "", "cell");
      box.style.left = `${x}px`;
      box.style.top = `${level * row}px`;
      box.style.width = `${Math.max(1, wide - 1)}px`;
      const shade = passColours[node.pass] ?? "#56b4e9";
      Object.assign(box.style, { background: shade, color: inkOn(shade) });
      box.style.opacity = wanted && !node.name.toLowerCase().includes(wanted) ? "0.25" : "1";
      const says = `${fullName(node)}: ${joules(node.joules)}, ${percent(node.joules / root.joules)}${node.place ? " · " + node.place : ""}`;
      box.title = says;
      box.setAttribute("aria-label", says);
      for (const event of ["mouseenter", "focus"]) box.addEventListener(event, () => { pointed.textContent = says; });
      box.addEventListener("click", () => { focus = node === focus && node.parent ? node.parent : node; drawIcicle(); });
      let left = x;
      for (const one of [...node.children.values()].sort((a, b) => b.joules - a.joules)) {
        const part = (wide * one.joules) / node.joules;
        place(one, left, part, level + 1);
        left += part;
      }
    };
    place(focus, 0, width, 0);
    icicle.style.height = `${(depth + 1) * row}px`;
    showMatches(wanted);
  }
  // Most layers of a large model are too narrow to be seen: what is searched for is also listed, and a click goes there.
  const mostMatches = 12;
  function showMatches(wanted) {
    const list = document.getElementById("inside-matches");
    list.replaceChildren();
    if (!wanted) return;
    const found = [];
    const look = (node) => {
      if (node !== root && node.name.toLowerCase().includes(wanted)) found.push(node);
      for (const one of node.children.values()) look(one);
    };
    look(root);
    found.sort((a, b) => b.joules - a.joules);
    for (const node of found.slice(0, mostMatches)) {
      const entry = element("button", list, `${fullName(node)}: ${joules(node.joules)}`, "trail");
      entry.addEventListener("click", () => { focus = node; drawIcicle(); });
    }
    if (found.length === 0) element("span", list, "nothing is called so", "note");
    if (found.length > mostMatches) element("span", list, ` and ${found.length - mostMatches} more`, "note");
  }
  search.addEventListener("input", drawIcicle);
  window.addEventListener("resize", drawIcicle);

  const shownAtFirst = 10; // most layers of a large model take next to nothing
  function table(id, rows) {
    const place = document.getElementById(id);
    const scale = column(rows.map((row) => row[2]));
    const energy = `${page.mark}energy, ${scale.unit}`;
    const head = element("tr", element("thead", place));
    [["layer", ""], [energy, "number"], ["95% interval", "number interval"], ["share", "number"], ["power", "number"], ["runs", "number"]].forEach(([title, kind]) => { element("th", head, title, kind).scope = "col"; });
    const body = element("tbody", place);
    const fill = (shown) => shown.forEach(line);
    if (rows.length > 2 * shownAtFirst) {
      const rest = rows.slice(shownAtFirst);
      const more = element("button", place.parentElement, `Show all ${counted(rows.length, "layer")}`);
      place.after(more);
      more.addEventListener("click", () => { more.remove(); fill(rest); });
      fill(rows.slice(0, shownAtFirst));
    } else fill(rows);

    function line([name, where, own, low, high, share, watts, count]) {
      const row = element("tr", body);
      const cell = element("td", row, undefined, "api");
      element("span", cell, name);
      if (where) {
        const [, file, number] = /^(.*):(\d+)$/.exec(where) ?? [, where, ""];
        placeOf(cell, file, number);
      }
      [[scale.text(own), energy, "number"], [`${scale.text(low)} to ${scale.text(high)}`, "95% interval", "number interval"], [percent(share), "share", "number"], [watts === null ? "" : watts.toPrecision(3) + " W", "power", "number"], [count ? String(count) : "", "runs", "number"]].forEach(([text, label, kind]) => { element("td", row, text, kind).dataset.label = label; });
    }
  }

  const [boxWidth, boxHeight] = [190, 46];
  function drawDiagram(path) {
    const level = inside.levels[path];
    const place = document.getElementById("diagram");
    const trail = document.getElementById("diagram-path");
    place.replaceChildren();
    trail.replaceChildren();
    const names = path ? path.split("/") : [];
    ["model", ...names].forEach((name, index) => {
      const there = names.slice(0, index).join("/");
      if (index) element("span", trail, " / ");
      const link = element("button", trail, name, "trail");
      if (inside.levels[there]) link.addEventListener("click", () => drawDiagram(there));
    });
    if (!level) return;
    const [width, height] = level.size;
    const drawing = svgElement("svg", place, { viewBox: `-8 -8 ${width + 16} ${height + 16}`, width: width + 16, height: height + 16 });
    for (const [one, other] of level.edges) {
      const [, , , x1, y1] = level.boxes[one];
      const [, , , x2, y2] = level.boxes[other];
      const [from, to] = [y1 + boxHeight / 2, y2 - boxHeight / 2];
      svgElement("path", drawing, { d: `M${x1},${from} C${x1},${(from + to) / 2} ${x2},${(from + to) / 2} ${x2},${to}`, fill: "none", stroke: "#8c959f" });
    }
    for (const [name, whole, kind, x, y, own, share, forward, , opens] of level.boxes) {
      const group = svgElement("g", drawing, opens ? { class: "opens", tabindex: "0", role: "button", "aria-label": `${whole}, ${percent(share)}: look inside` } : {});
      svgElement("title", group, {}).textContent = `${whole} (${kind})`;
      const [left, top] = [x - boxWidth / 2, y - boxHeight / 2];
      svgElement("rect", group, { x: left, y: top, width: boxWidth, height: boxHeight, rx: 4, fill: "#d55e00", "fill-opacity": 0.06 + 0.6 * Math.min(1, 2 * share), stroke: "#59636e" });
      svgElement("text", group, { x: left + 8, y: top + 17, class: "name" }).textContent = (name.length > 24 ? name.slice(0, 23) + "…" : name) + (opens ? " ▸" : "");
      svgElement("text", group, { x: left + 8, y: top + 33, class: "amount" }).textContent = `${percent(share)} · ${joules(own)}`;
      const part = own > 0 ? forward / own : 0;
      svgElement("rect", group, { x: left + 8, y: top + 38, width: (boxWidth - 16) * part, height: 3, fill: passColours.forward });
      svgElement("rect", group, { x: left + 8 + (boxWidth - 16) * part, y: top + 38, width: (boxWidth - 16) * (1 - part), height: 3, fill: passColours.backward });
      if (opens) {
        group.addEventListener("click", () => drawDiagram(whole));
        group.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); drawDiagram(whole); } });
      }
    }
    if (level.left_out) element("p", place, `and ${level.left_out} smaller ones`, "note");
  }

  drawIcicle();
  table("layers", inside.layers);
  // Where no two blocks are alike, the table would be the same again.
  const alike = inside.blocks.length < inside.layers.length || inside.blocks.some(([name], index) => name !== inside.layers[index][0]);
  if (alike) table("blocks", inside.blocks);
  else for (const id of ["blocks-title", "blocks"]) document.getElementById(id).hidden = true;
  drawDiagram(inside.opening);
})();
