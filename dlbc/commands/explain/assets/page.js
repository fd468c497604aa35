"use strict";
(() => {
  const main = document.querySelector("main");
  document.querySelectorAll("button[data-kind]").forEach(button => button.addEventListener("click", () => {
    const shown = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(shown));
    main.classList.toggle("no-" + button.dataset.kind, !shown);
  }));

  /* The lines of a remark are marked while it is pointed at or has the focus. */
  const mark = (remark, on) => {
    const [file, first, last] = remark.dataset.lines.split(" ");
    for (let line = Number(first); line <= Number(last); line++) document.getElementById(file + line)?.classList.toggle("on", on);
  };
  document.querySelectorAll("li[data-lines]").forEach(remark => {
    for (const event of ["pointerenter", "focusin"]) remark.addEventListener(event, () => mark(remark, true));
    for (const event of ["pointerleave", "focusout"]) remark.addEventListener(event, () => mark(remark, false));
  });

  /* A mark at a line leads to the first of its remarks that is shown. */
  document.querySelectorAll(".marks a").forEach(link => link.addEventListener("click", event => {
    event.preventDefault();
    const wanted = link.dataset.line;
    const found = [...document.querySelectorAll(`li[data-line="${wanted}"].${link.className}`)];
    document.querySelectorAll("li.on").forEach(each => each.classList.remove("on"));
    found.forEach(each => each.classList.add("on"));
    if (found.length) { found[0].tabIndex = -1; found[0].scrollIntoView({ block: "center" }); found[0].focus({ preventScroll: true }); }
  }));
})();
