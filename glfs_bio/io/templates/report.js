for (const button of document.querySelectorAll(".sortable thead button")) {
  button.addEventListener("click", () => {
    const heading = button.parentElement;
    const column = heading.cellIndex;
    const descending = heading.getAttribute("aria-sort") === "ascending";
    for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const body = heading.closest("table").tBodies[0];
    const numeric = heading.classList.contains("number");
    const value = (row) => {
      const cell = row.cells[column];
      return numeric ? parseFloat(cell.dataset.value) : cell.textContent.trim();
    };
    // what is no number stays at the end, whichever way
    const order = (a, b) => {
      const [x, y] = [value(a), value(b)];
      if (numeric && (isNaN(x) || isNaN(y))) return isNaN(x) - isNaN(y);
      const less = numeric ? x - y : x.localeCompare(y, "en", { numeric: true });
      return descending ? -less : less;
    };
    body.append(...[...body.rows].sort(order));
  });
}
