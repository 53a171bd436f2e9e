/* Replaces a table of the first rows by a table of all rows when it comes near the viewport. */
(() => {
  "use strict";
  const PRINTED_ROWS = 20;
  const { make, text, isNumber, grouped } = Values;

  class Explorer {
    constructor(figure) {
      this.figure = figure;
      this.id = figure.dataset.explorer;
      this.head = JSON.parse(document.getElementById(`${this.id}-head`).textContent);
    }

    async start() {
      const reader = new Unpack.Reader(await Unpack.bytesOf(`${this.id}-rows`));
      const columns = this.head.columns.map((column) => reader.column(column, this.head.rows));
      this.set = new Rows.RowSet(columns, this.head.rows);
      if (this.head.order) this.set.sorted = { name: this.head.order, falling: this.head.falling };
      this.set.update();
      this.draw();
      this.update(true);
      this.figure.dataset.ready = "yes";
    }

    draw() {
      this.container = make("div", { class: "explorer-grid", role: "grid", "aria-labelledby": `${this.id}-caption` });
      this.status = make("p", { class: "explorer-count", role: "status", "aria-live": "polite" });
      this.dialog = make("dialog", { class: "explorer-details", "aria-label": "Row details" });
      const frame = make("div", { class: "explorer-frame" });
      const plain = this.plain = this.figure.querySelector(".explorer-plain");
      plain.before(frame);
      frame.append(this.container, this.dialog);
      this.visible = ExplorerGrid.firstVisible(this.set, this.container);
      frame.before(Filters.toolbar(this.set, {
        visible: this.visible,
        onChange: () => this.update(true),
        onColumnsChange: () => this.updateColumns(),
        actions: [["Copy rows", () => this.copy()], ["Save as CSV", () => this.save()]],
      }), this.status);
      this.figure.classList.add("explorer-active");
      this.grid = ExplorerGrid.createGrid(this.container, this.set, this.visible, {
        onOpen: (number) => this.open(this.set.order[number]),
        onSort: () => this.update(true),
      });
      this.grid.showSort();
      const closeOnEscape = (event) => {
        if (event.key !== "Escape" || !this.dialog.open) return;
        event.preventDefault();
        this.close();
      };
      for (const element of [this.dialog, this.container]) element.addEventListener("keydown", closeOnEscape);
    }

    update(scrollToTop) {
      this.set.update();
      this.grid.refresh(scrollToTop);
      const [one, several] = this.head.what;
      const count = this.set.order.length;
      const source = this.head.whole > this.head.rows ? ` on this page (of ${grouped(String(this.head.whole))})` : "";
      const total = grouped(String(this.head.rows));
      this.status.textContent = `${grouped(String(count))} of ${total} ${this.head.rows === 1 ? one : several}${source}`;
      this.print();
    }

    updateColumns() {
      this.grid.columns();
      this.print();
    }

    visibleColumns() {
      return this.set.columns.filter((column) => this.visible.has(column.name));
    }

    /** Updates the plain table for printing: the first rows in the current order. */
    print() {
      const columns = this.visibleColumns();
      const cellAttributes = (column) => (isNumber(column) ? { class: "right" } : {});
      const rows = Array.from(this.set.order.subarray(0, PRINTED_ROWS), (row) =>
        make("tr", {}, ...columns.map((column) => make("td", cellAttributes(column), text(column, row)))));
      const heading = make("tr", {}, ...columns.map((column) => make("th", { scope: "col", ...cellAttributes(column) }, column.heading)));
      const count = grouped(String(this.set.order.length));
      this.plain.replaceChildren(
        make("table", {}, make("thead", {}, heading), make("tbody", {}, ...rows)),
        make("p", {}, `The first ${rows.length} of ${count} ${this.head.what[1]} with the chosen order and filter.`));
    }

    async open(row) {
      this.details ??= Details.read(`${this.id}-details`, this.head.details, this.head.rows);
      const details = await this.details;
      const titleColumns = this.head.titles.map((name) => this.set.byName.get(name)).filter(Boolean);
      const title = titleColumns.map((column) => text(column, row)).filter(Boolean).join(" ");
      const close = make("button", { type: "button", class: "explorer-close", onclick: () => this.close() }, "Close");
      this.dialog.replaceChildren(
        make("header", {}, make("h3", { dir: "auto" }, title), close),
        make("div", { class: "explorer-parts" }, ...Details.contents(this.set, this.head, details, row)));
      const isModal = matchMedia("(max-width: 40rem)").matches;
      if (!this.dialog.open) {
        if (isModal) this.dialog.showModal();
        else this.dialog.show();
      }
      this.dialog.scrollTop = 0;
      if (!isModal) this.dialog.scrollIntoView({ block: "nearest" });
      close.focus({ preventScroll: true });
    }

    close() {
      this.dialog.close();
      this.grid.focus();
    }

    csv() {
      return Saving.csv(this.set.columns, this.set.order);
    }

    save() {
      Saving.save(this.csv(), `${this.head.name}.csv`);
    }

    async copy() {
      const isCopied = await Saving.copy(this.csv());
      const count = grouped(String(this.set.order.length));
      this.status.textContent = isCopied ? `Copied ${count} rows` : "Copying is blocked here: save the file instead";
    }
  }

  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries.filter((each) => each.isIntersecting)) {
      observer.unobserve(entry.target);
      new Explorer(entry.target).start().catch(console.error);
    }
  }, { rootMargin: "600px" });
  for (const figure of document.querySelectorAll("[data-explorer]")) observer.observe(figure);
})();
