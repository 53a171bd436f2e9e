/* The grid: SlickGrid over an index of rows, with better support for keyboards and screen readers. */
const ExplorerGrid = (() => {
  "use strict";
  const { text, isNumber } = Values;
  const NARROW_WIDTH = 480;
  const SCROLLBAR_WIDTH = 18;

  function width(column, narrow) {
    if (column.kind === "text") return narrow ? 120 : 150;
    if (column.kind === "label") return narrow ? 100 : 124;
    const heading = 26 + 7.5 * column.heading.length;
    return Math.max(narrow ? 70 : 84, Math.min(heading, 250));
  }

  /** Returns the columns of the grid; spare width goes to text columns. */
  function columnsFor(set, visible, container) {
    const narrow = container.clientWidth < NARROW_WIDTH;
    const shownColumns = set.columns.filter((column) => visible.has(column.name));
    const textColumns = shownColumns.filter((column) => column.kind === "text");
    const spare = container.clientWidth - SCROLLBAR_WIDTH - shownColumns.reduce((sum, column) => sum + width(column, narrow), 0);
    const extra = spare > 0 && textColumns.length ? spare / textColumns.length : 0;
    return shownColumns.map((column) => ({
      id: column.name,
      name: column.heading,
      field: column.name,
      toolTip: column.heading,
      width: Math.floor(width(column, narrow) + (textColumns.includes(column) ? extra : 0)),
      sortable: true,
      cssClass: isNumber(column) ? "right" : "",
      headerCssClass: isNumber(column) ? "right" : "",
      formatter: (_row, _cell, _value, _column, item) => text(column, item.row),
    }));
  }

  /** Returns the initial columns: on a narrow page as many as fit; all if the width is unknown. */
  function firstVisible(set, container) {
    const shown = set.columns.filter((column) => column.visible);
    const available = container.clientWidth;
    if (!available || available >= NARROW_WIDTH) return new Set(shown.map((column) => column.name));
    let used = 0;
    const fitting = shown.filter((column) => (used += width(column, true)) <= available - 16);
    const names = fitting.map((column) => column.name);
    return new Set(names.length ? names : shown.slice(0, 1).map((column) => column.name));
  }

  const STEPS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

  /** Makes the headings one tab stop; arrow keys, Home and End move between them. */
  function makeSortable(node, column, grid, sort) {
    node.setAttribute("role", "columnheader");
    node.tabIndex = node.previousElementSibling ? -1 : 0;
    node.onkeydown = (event) => {
      const step = STEPS[event.key];
      if (step !== undefined) {
        event.preventDefault();
        const all = [...node.parentElement.querySelectorAll("[role=columnheader]")];
        const target = all[Math.min(all.length - 1, Math.max(0, all.indexOf(node) + step))];
        for (const each of all) each.tabIndex = each === target ? 0 : -1;
        target.focus();
        return;
      }
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      const current = grid.getSortColumns().find((each) => each.columnId === column.id);
      sort(column.id, current ? current.sortAsc : false);
      node.parentElement.querySelector(`[data-id="${CSS.escape(column.id)}"]`)?.focus();
    };
  }

  /** Sets the number of rows and columns, the index of each row, and the tab stop. */
  function describeRows(container, grid, set) {
    container.setAttribute("aria-rowcount", String(set.order.length + 1));
    container.setAttribute("aria-colcount", String(grid.getColumns().length));
    for (const rowNode of container.querySelectorAll(".slick-row")) {
      rowNode.setAttribute("aria-rowindex", String(Number(rowNode.dataset.row) + 2));
    }
    for (const cell of container.querySelectorAll(".slick-cell[tabindex='0']")) cell.tabIndex = -1;
    const first = `.slick-row[data-row="${grid.getViewport().top}"] .slick-cell`;
    const entry = grid.getActiveCellNode() ?? container.querySelector(first);
    if (entry) entry.tabIndex = 0;
  }

  /** Marks the container if there are more columns to the right. */
  function markOverflow(container) {
    const view = container.querySelector(".slick-viewport");
    container.classList.toggle("more-right", view.scrollLeft + view.clientWidth < view.scrollWidth - 4);
  }

  /** Marks the column by which rows are sorted. */
  function markSorted(container, { name, falling }) {
    for (const node of container.querySelectorAll("[role=columnheader]")) {
      const isSorted = node.dataset.id === name;
      node.setAttribute("aria-sort", isSorted ? (falling ? "descending" : "ascending") : "none");
    }
  }

  /** Keeps the focus in cells, not in elements without a size, and lets the Tab key leave the grid. */
  function fixFocus(container, grid) {
    for (const node of container.querySelectorAll("[tabindex='0']:not([role])")) node.removeAttribute("tabindex");
    grid.setFocus = () => grid.getActiveCellNode()?.focus({ preventScroll: true });
    grid.onActiveCellChanged.subscribe(() => {
      if (container.contains(document.activeElement)) grid.setFocus();
    });
    container.addEventListener("focusin", (event) => {
      const cell = event.target.closest(".slick-cell") && !grid.getActiveCell() && grid.getCellFromEvent(event);
      if (cell) grid.setActiveCell(cell.row, cell.cell);
    });
    container.addEventListener("keydown", (event) => {
      if (event.key === "Tab") event.stopPropagation();
    }, true);
  }

  /** Returns the grid; `onOpen` is called with the index of a row, `onSort` after sorting. */
  function createGrid(container, set, visible, { onOpen, onSort }) {
    const rowHeight = matchMedia("(pointer: coarse)").matches ? 40 : 28;
    const data = {
      getLength: () => set.order.length,
      getItem: (number) => ({ row: set.order[number] }),
      getItemMetadata: () => null,
    };
    const grid = new Slick.Grid(container, data, [], {
      enableColumnReorder: false, enableHtmlRendering: false, enableTextSelectionOnCells: true,
      rowHeight, explicitInitialization: true, enableCellNavigation: true,
    });
    const sort = (name, falling) => {
      set.sorted = { name, falling };
      grid.setSortColumn(name, !falling);
      markSorted(container, set.sorted);
      onSort();
    };
    grid.onHeaderCellRendered.subscribe((_event, { node, column }) => makeSortable(node, column, grid, sort));
    grid.onRendered.subscribe(() => {
      describeRows(container, grid, set);
      markOverflow(container);
    });
    grid.onScroll.subscribe(() => markOverflow(container));
    grid.onSort.subscribe((_event, { sortCol, sortAsc }) => sort(sortCol.id, !sortAsc));
    grid.onClick.subscribe((_event, { row }) => onOpen(row));
    grid.onKeyDown.subscribe((event, { row }) => {
      if (event.key === "Enter" && row != null) {
        event.stopImmediatePropagation();
        event.preventDefault();
        onOpen(row);
      }
    });
    grid.init();
    grid.setColumns(columnsFor(set, visible, container));
    fixFocus(container, grid);
    const resizeObserver = new ResizeObserver(() => grid.resizeCanvas());
    resizeObserver.observe(container);
    return {
      columns: () => {
        grid.setColumns(columnsFor(set, visible, container));
        if (visible.has(set.sorted.name)) grid.setSortColumn(set.sorted.name, !set.sorted.falling);
        markSorted(container, set.sorted);
      },
      refresh: (scrollToTop) => {
        grid.invalidate();
        if (scrollToTop) grid.scrollRowToTop(0);
      },
      showSort: () => {
        if (visible.has(set.sorted.name)) grid.setSortColumn(set.sorted.name, !set.sorted.falling);
        markSorted(container, set.sorted);
      },
      focus: () => grid.setFocus(),
    };
  }

  return { createGrid, firstVisible };
})();
