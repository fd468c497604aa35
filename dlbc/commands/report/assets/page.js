"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const canvas = document.getElementById("timeline"), readout = document.getElementById("readout");
  const ranks = data.ranks.length, LABEL = 62, TOP = 22, FOOT = 24;
  const row = Math.max(10, Math.min(34, 640 / ranks)), bar = Math.max(7, row - 6), height = TOP + ranks * row + FOOT;
  const CARRY = ["prepare", "scatter", "move", "collect"];
  const WORDS = { prepare: "waits for the call", scatter: "waits for its rows", compute: "computes", move: "moves work",
    synchronize: "synchronizes", idle: "is idle", collect: "gives or takes results", sequential: "runs the sequential part" };
  let low = 0, high = Math.max(1, data.end), width = 0, picked = null, colours = {}, hatch = null;

  const time = us => us >= 1e6 ? (us / 1e6).toPrecision(4) + " s" : us >= 1e3 ? (us / 1e3).toPrecision(4) + " ms" : us + " us";
  const x = us => LABEL + (us - low) / (high - low) * (width - LABEL);
  const at = px => low + (px - LABEL) / (width - LABEL) * (high - low);

  /* The number of the first slice of a rank that ends after a time. */
  const first = (slices, us) => {
    let a = 0, b = slices.length / 4;
    while (a < b) { const m = (a + b) >> 1; if (slices[4 * m + 1] + slices[4 * m + 2] > us) b = m; else a = m + 1; }
    return a;
  };

  const paint = () => {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["page", "text", "quiet", "edge", "compute", "carry", "synchronize", "idle", "rest", "sequential", "mark", "focus"])
      colours[name] = style.getPropertyValue("--" + name).trim();
    const tile = document.createElement("canvas"), c = tile.getContext("2d");
    tile.width = tile.height = 8;
    c.fillStyle = colours.rest; c.fillRect(0, 0, 8, 8);
    c.strokeStyle = colours.idle; c.lineWidth = 1.6;
    c.beginPath(); for (const k of [-8, 0, 8]) { c.moveTo(k, 8); c.lineTo(k + 8, 0); } c.stroke();
    hatch = c;
  };

  const draw = () => {
    const scale = window.devicePixelRatio || 1;
    width = canvas.clientWidth;
    canvas.style.height = height + "px";
    canvas.width = width * scale; canvas.height = height * scale;
    const c = canvas.getContext("2d");
    c.setTransform(scale, 0, 0, scale, 0, 0);
    c.fillStyle = colours.page; c.fillRect(0, 0, width, height);
    c.font = "12px system-ui, sans-serif";
    axis(c);
    const idle = c.createPattern(hatch.canvas, "repeat");
    c.save(); c.beginPath(); c.rect(LABEL, 0, width - LABEL, height); c.clip();
    data.runs.forEach(([loop, number, begin, length, strategy], k) => {
      if (begin + length < low || begin > high) return;
      const a = x(begin), b = x(begin + length);
      c.strokeStyle = colours.quiet; c.strokeRect(a, TOP - 5, Math.max(1, b - a), 3);
      const label = `${data.loops[loop]}, run ${number} (${strategy})`;
      if (b - a > 50) { c.fillStyle = colours.text; c.save(); c.beginPath(); c.rect(a, 0, b - a, TOP); c.clip(); c.fillText(label, Math.max(a, LABEL) + 2, 12); c.restore(); }
    });
    for (let rank = 0; rank < ranks; rank++) {
      const slices = data.slices[rank], y = TOP + rank * row + (row - bar) / 2;
      let column = -1, spent = {};  /* what lies within a pixel is drawn as what most of it is */
      const flush = () => {
        const [most] = Object.entries(spent).sort((p, q) => q[1] - p[1])[0] ?? [];
        if (most) { c.fillStyle = most === "idle" ? idle : colours[most]; c.fillRect(column, y, 1, bar); }
        spent = {};
      };
      for (let k = first(slices, low); 4 * k < slices.length && slices[4 * k + 1] <= high; k++) {
        const a = x(slices[4 * k + 1]), b = x(slices[4 * k + 1] + slices[4 * k + 2]);
        const kind = data.kinds[slices[4 * k]], name = CARRY.includes(kind) ? "carry" : kind;
        if (b - a < 1) {
          if (Math.floor(a) !== column) { flush(); column = Math.floor(a); }
          spent[name] = (spent[name] ?? 0) + b - a;
          continue;
        }
        flush();
        c.fillStyle = name === "idle" ? idle : colours[name];
        c.fillRect(a, y, b - a, bar);
      }
      flush();
      c.strokeStyle = colours.mark; c.lineWidth = 1;
      c.beginPath();
      for (const mark of data.marks[rank]) if (mark >= low && mark <= high) { c.moveTo(x(mark), y - 2); c.lineTo(x(mark), y + bar + 2); }
      c.stroke();
    }
    arrows(c);
    if (picked) {
      const [rank, k] = picked, s = data.slices[rank], y = TOP + rank * row + (row - bar) / 2;
      c.strokeStyle = colours.focus; c.lineWidth = 3;
      c.strokeRect(x(s[4 * k + 1]) - 1, y - 2, Math.max(3, x(s[4 * k + 1] + s[4 * k + 2]) - x(s[4 * k + 1])) + 2, bar + 4);
    }
    c.restore();
    c.fillStyle = colours.text;
    const every = Math.ceil(13 / row);
    for (let rank = 0; rank < ranks; rank += every) c.fillText(data.ranks[rank], 4, TOP + rank * row + row / 2 + 4);
  };

  const axis = c => {
    const span = high - low, most = Math.max(2, Math.floor((width - LABEL) / 110));
    let step = Math.pow(10, Math.floor(Math.log10(span / most)));
    for (const factor of [1, 2, 5, 10]) if (span / (step * factor) <= most) { step *= factor; break; }
    step = Math.max(1, step);
    for (let t = Math.ceil(low / step) * step; t <= high; t += step) {
      c.strokeStyle = colours.edge; c.beginPath(); c.moveTo(x(t), TOP); c.lineTo(x(t), height - FOOT + 4); c.stroke();
      c.fillStyle = colours.quiet;
      const label = time(t), w = c.measureText(label).width;
      c.fillText(label, Math.min(x(t) - w / 2, width - w - 2), height - 7);
    }
  };

  const arrows = c => {
    c.strokeStyle = c.fillStyle = colours.text; c.lineWidth = 1;
    let drawn = 0;
    for (let k = 0; k < data.arrows.length && drawn < 600; k += 5) {
      const [source, target, left, came] = data.arrows.slice(k, k + 4);
      if (came < low || left > high) continue;
      const y = rank => TOP + rank * row + row / 2;
      c.beginPath(); c.moveTo(x(left), y(source)); c.lineTo(x(came), y(target)); c.stroke();
      c.beginPath(); c.arc(x(came), y(target), 2.5, 0, 7); c.fill();
      drawn++;
    }
  };

  const show = (rank, k) => {
    picked = [rank, k];
    const s = data.slices[rank], kind = data.kinds[s[4 * k]], amount = s[4 * k + 3];
    const begin = s[4 * k + 1];
    const run = data.runs.find(r => r[2] <= begin && begin < r[2] + r[3]);
    const what = { move: "bytes", compute: run && data.units[run[0]] }[kind];
    const more = amount && what ? `, ${amount} ${what}` : "";
    const where = run ? `, ${data.loops[run[0]]}, run ${run[1]} under ${run[4]}` : "";
    readout.textContent = `${data.ranks[rank]} (${data.hosts[rank]}) ${WORDS[kind]} for ${time(s[4 * k + 2])} from ${time(begin)}${more}${where}`;
  };

  const view = (a, b) => {
    const whole = Math.max(1, data.end), span = Math.min(whole, Math.max(10, b - a));
    low = Math.max(0, Math.min(whole - span, a)); high = low + span;
    draw();
  };
  const zoom = (factor, middle) => { const m = middle ?? (low + high) / 2; view(m - (m - low) * factor, m + (high - m) * factor); };
  const pan = part => view(low + part * (high - low), high + part * (high - low));
  const step = (ranked, by) => {
    let [rank, k] = picked ?? [0, first(data.slices[0], low) - 1];
    if (ranked) {
      const middle = picked ? data.slices[rank][4 * k + 1] + data.slices[rank][4 * k + 2] / 2 : low;
      rank = Math.max(0, Math.min(ranks - 1, rank + ranked)); k = first(data.slices[rank], middle);
    }
    const last = data.slices[rank].length / 4 - 1;
    if (last < 0) return;
    k = Math.max(0, Math.min(last, k + by));
    show(rank, k);
    const s = data.slices[rank], a = s[4 * k + 1], b = a + s[4 * k + 2];
    if (b < low || a > high) view(a - (high - low) / 2, a + (high - low) / 2); else draw();
  };

  const DO = { in: () => zoom(0.5), out: () => zoom(2), left: () => pan(-0.4), right: () => pan(0.4), all: () => view(0, data.end) };
  const KEYS = { "+": DO.in, "=": DO.in, "-": DO.out, "0": DO.all, Home: () => view(0, high - low), End: () => view(data.end - (high - low), data.end),
    PageUp: DO.left, PageDown: DO.right, ArrowLeft: () => step(0, -1), ArrowRight: () => step(0, 1), ArrowUp: () => step(-1, 0), ArrowDown: () => step(1, 0) };

  document.querySelectorAll("[data-do]").forEach(b => b.addEventListener("click", () => DO[b.dataset.do]()));
  document.querySelectorAll("[data-run]").forEach(b => b.addEventListener("click", () => {
    const [loop, number] = b.dataset.run.split(",").map(Number);
    const run = data.runs.find(r => r[0] === loop - 1 && r[1] === number);
    if (run) view(run[2] - 0.02 * run[3], run[2] + 1.02 * run[3]);
    canvas.scrollIntoView({ block: "center" }); canvas.focus();
  }));
  canvas.addEventListener("keydown", e => { if (KEYS[e.key] && !e.ctrlKey && !e.metaKey && !e.altKey) { e.preventDefault(); KEYS[e.key](); } });
  canvas.addEventListener("wheel", e => { if (e.ctrlKey) { e.preventDefault(); zoom(e.deltaY > 0 ? 1.25 : 0.8, at(e.offsetX)); } }, { passive: false });
  let held = null;
  canvas.addEventListener("pointerdown", e => { held = [e.offsetX, low, high]; canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener("pointerup", () => { held = null; });
  canvas.addEventListener("pointercancel", () => { held = null; });
  canvas.addEventListener("pointermove", e => {
    if (held) { const by = (held[0] - e.offsetX) / (width - LABEL) * (held[2] - held[1]); view(held[1] + by, held[2] + by); return; }
    const rank = Math.floor((e.offsetY - TOP) / row);
    if (rank < 0 || rank >= ranks) return;
    const us = at(e.offsetX), k = first(data.slices[rank], us);
    if (4 * k < data.slices[rank].length && data.slices[rank][4 * k + 1] <= us) { show(rank, k); draw(); }
  });
  const again = () => { paint(); draw(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  window.addEventListener("resize", draw);
  window.addEventListener("beforeprint", () => { document.querySelectorAll("details").forEach(d => { d.open = true; }); again(); });
  again();
})();
