/* The grid: SlickGrid over an index of rows, with what it lacks for keyboards and screen readers. */
const ExplorerGrid = (() => {
  "use strict";
  const { text, isNumber } = Values;
  const NARROW = 480;
  const SCROLLBAR = 18;

  function width(column, narrow) {
    if (column.kind === "text") return narrow ? 120 : 150;
    if (column.kind === "label") return narrow ? 100 : 124;
    const heading = 26 + 7.5 * column.heading.length;
    return Math.max(narrow ? 70 : 84, Math.min(heading, 250));
  }

  /** The columns of the grid; room that is left goes to those of text. */
  function columnsFor(set, visible, place) {
    const narrow = place.clientWidth < NARROW;
    const chosen = set.columns.filter((column) => visible.has(column.name));
    const wide = chosen.filter((column) => column.kind === "text");
    const left = place.clientWidth - SCROLLBAR - chosen.reduce((sum, column) => sum + width(column, narrow), 0);
    const more = left > 0 && wide.length ? left / wide.length : 0;
    return chosen.map((column) => ({
      id: column.name,
      name: column.heading,
      field: column.name,
      toolTip: column.heading,
      width: Math.floor(width(column, narrow) + (wide.includes(column) ? more : 0)),
      sortable: true,
      cssClass: isNumber(column) ? "right" : "",
      headerCssClass: isNumber(column) ? "right" : "",
      formatter: (_row, _cell, _value, _column, item) => text(column, item.row),
    }));
  }

  /** The columns shown at first: on a narrow page as many as fit, all if the width is not known. */
  function firstVisible(set, place) {
    const shown = set.columns.filter((column) => column.visible);
    const room = place.clientWidth;
    if (!room || room >= NARROW) return new Set(shown.map((column) => column.name));
    let used = 0;
    const fitting = shown.filter((column) => (used += width(column, true)) <= room - 16);
    const names = fitting.map((column) => column.name);
    return new Set(names.length ? names : shown.slice(0, 1).map((column) => column.name));
  }

  const STEPS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

  /** The headings are one stop of the tabulator key; arrow keys, Home and End move among them. */
  function sortable(node, column, grid, sort) {
    node.setAttribute("role", "columnheader");
    node.tabIndex = node.previousElementSibling ? -1 : 0;
    node.onkeydown = (event) => {
      const step = STEPS[event.key];
      if (step !== undefined) {
        event.preventDefault();
        const all = [...node.parentElement.querySelectorAll("[role=columnheader]")];
        const to = all[Math.min(all.length - 1, Math.max(0, all.indexOf(node) + step))];
        for (const each of all) each.tabIndex = each === to ? 0 : -1;
        to.focus();
        return;
      }
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      const now = grid.getSortColumns().find((each) => each.columnId === column.id);
      sort(column.id, now ? now.sortAsc : false);
      node.parentElement.querySelector(`[data-id="${CSS.escape(column.id)}"]`)?.focus();
    };
  }

  /** How many rows there are, which of them is which, and where the tabulator key comes in. */
  function described(place, grid, set) {
    place.setAttribute("aria-rowcount", String(set.order.length + 1));
    place.setAttribute("aria-colcount", String(grid.getColumns().length));
    for (const line of place.querySelectorAll(".slick-row")) {
      line.setAttribute("aria-rowindex", String(Number(line.dataset.row) + 2));
    }
    for (const cell of place.querySelectorAll(".slick-cell[tabindex='0']")) cell.tabIndex = -1;
    const first = `.slick-row[data-row="${grid.getViewport().top}"] .slick-cell`;
    const entry = grid.getActiveCellNode() ?? place.querySelector(first);
    if (entry) entry.tabIndex = 0;
  }

  /** Says that there are columns further right. */
  function cue(place) {
    const view = place.querySelector(".slick-viewport");
    place.classList.toggle("more-right", view.scrollLeft + view.clientWidth < view.scrollWidth - 4);
  }

  /** Says by which column rows are sorted. */
  function sortedBy(place, { name, falling }) {
    for (const node of place.querySelectorAll("[role=columnheader]")) {
      const mine = node.dataset.id === name;
      node.setAttribute("aria-sort", mine ? (falling ? "descending" : "ascending") : "none");
    }
  }

  /** Lets the focus be in cells, not in elements without a size, and the tabulator key go on. */
  function focused(place, grid) {
    for (const inner of place.querySelectorAll("[tabindex='0']:not([role])")) inner.removeAttribute("tabindex");
    grid.setFocus = () => grid.getActiveCellNode()?.focus({ preventScroll: true });
    grid.onActiveCellChanged.subscribe(() => {
      if (place.contains(document.activeElement)) grid.setFocus();
    });
    place.addEventListener("focusin", (event) => {
      const at = event.target.closest(".slick-cell") && !grid.getActiveCell() && grid.getCellFromEvent(event);
      if (at) grid.setActiveCell(at.row, at.cell);
    });
    place.addEventListener("keydown", (event) => {
      if (event.key === "Tab") event.stopPropagation();
    }, true);
  }

  /** Returns the grid; `opened` is called with the place of a row, `sorted` after a sort. */
  function grid(place, set, visible, { opened, sorted }) {
    const rowHeight = matchMedia("(pointer: coarse)").matches ? 40 : 28;
    const data = {
      getLength: () => set.order.length,
      getItem: (number) => ({ row: set.order[number] }),
      getItemMetadata: () => null,
    };
    const made = new Slick.Grid(place, data, [], {
      enableColumnReorder: false, enableHtmlRendering: false, enableTextSelectionOnCells: true,
      rowHeight, explicitInitialization: true, enableCellNavigation: true,
    });
    const sort = (name, falling) => {
      set.sorted = { name, falling };
      made.setSortColumn(name, !falling);
      sortedBy(place, set.sorted);
      sorted();
    };
    made.onHeaderCellRendered.subscribe((_event, { node, column }) => sortable(node, column, made, sort));
    made.onRendered.subscribe(() => {
      described(place, made, set);
      cue(place);
    });
    made.onScroll.subscribe(() => cue(place));
    made.onSort.subscribe((_event, { sortCol, sortAsc }) => sort(sortCol.id, !sortAsc));
    made.onClick.subscribe((_event, { row }) => opened(row));
    made.onKeyDown.subscribe((event, { row }) => {
      if (event.key === "Enter" && row != null) {
        event.stopImmediatePropagation();
        event.preventDefault();
        opened(row);
      }
    });
    made.init();
    made.setColumns(columnsFor(set, visible, place));
    focused(place, made);
    const resized = new ResizeObserver(() => made.resizeCanvas());
    resized.observe(place);
    return {
      columns: () => {
        made.setColumns(columnsFor(set, visible, place));
        if (visible.has(set.sorted.name)) made.setSortColumn(set.sorted.name, !set.sorted.falling);
        sortedBy(place, set.sorted);
      },
      refresh: (top) => {
        made.invalidate();
        if (top) made.scrollRowToTop(0);
      },
      sorted: () => {
        if (visible.has(set.sorted.name)) made.setSortColumn(set.sorted.name, !set.sorted.falling);
        sortedBy(place, set.sorted);
      },
      focus: () => made.setFocus(),
    };
  }

  return { grid, firstVisible };
})();
