/* A table of all rows in the place of its first ones: made when it comes near the window. */
(() => {
  "use strict";
  const PRINTED = 20;
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
      this.changed(true);
      this.figure.dataset.ready = "yes";
    }

    draw() {
      this.place = make("div", { class: "explorer-grid", role: "grid", "aria-labelledby": `${this.id}-caption` });
      this.live = make("p", { class: "explorer-count", role: "status", "aria-live": "polite" });
      this.opened = make("dialog", { class: "explorer-opened", "aria-label": "Row details" });
      const room = make("div", { class: "explorer-room" });
      const plain = this.plain = this.figure.querySelector(".explorer-plain");
      plain.before(room);
      room.append(this.place, this.opened);
      this.visible = ExplorerGrid.firstVisible(this.set, this.place);
      room.before(Filters.toolbar(this.set, {
        visible: this.visible,
        changed: () => this.changed(true),
        columnsChanged: () => this.columnsChanged(),
        actions: [["Copy rows", () => this.copy()], ["Save as CSV", () => this.save()]],
      }), this.live);
      this.figure.classList.add("explorer-on");
      this.grid = ExplorerGrid.grid(this.place, this.set, this.visible, {
        opened: (number) => this.open(this.set.order[number]),
        sorted: () => this.changed(true),
      });
      this.grid.sorted();
      const escaped = (event) => {
        if (event.key !== "Escape" || !this.opened.open) return;
        event.preventDefault();
        this.close();
      };
      for (const element of [this.opened, this.place]) element.addEventListener("keydown", escaped);
    }

    changed(top) {
      this.set.update();
      this.grid.refresh(top);
      const [one, several] = this.head.what;
      const fit = this.set.order.length;
      const whole = this.head.whole > this.head.rows ? ` on this page (of ${grouped(String(this.head.whole))})` : "";
      const all = grouped(String(this.head.rows));
      this.live.textContent = `${grouped(String(fit))} of ${all} ${this.head.rows === 1 ? one : several}${whole}`;
      this.print();
    }

    columnsChanged() {
      this.grid.columns();
      this.print();
    }

    chosen() {
      return this.set.columns.filter((column) => this.visible.has(column.name));
    }

    /** What is printed: the first rows of the order chosen, as a plain table. */
    print() {
      const columns = this.chosen();
      const side = (column) => (isNumber(column) ? { class: "right" } : {});
      const rows = Array.from(this.set.order.subarray(0, PRINTED), (row) =>
        make("tr", {}, ...columns.map((column) => make("td", side(column), text(column, row)))));
      const head = make("tr", {}, ...columns.map((column) => make("th", { scope: "col", ...side(column) }, column.heading)));
      const fit = grouped(String(this.set.order.length));
      this.plain.replaceChildren(
        make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)),
        make("p", {}, `The first ${rows.length} of ${fit} ${this.head.what[1]} with the chosen order and filter.`));
    }

    async open(row) {
      this.details ??= Details.read(`${this.id}-details`, this.head.details, this.head.rows);
      const details = await this.details;
      const named = this.head.titles.map((name) => this.set.byName.get(name)).filter(Boolean);
      const title = named.map((column) => text(column, row)).filter(Boolean).join(" ");
      const close = make("button", { type: "button", class: "explorer-close", onclick: () => this.close() }, "Close");
      this.opened.replaceChildren(
        make("header", {}, make("h3", { dir: "auto" }, title), close),
        make("div", { class: "explorer-parts" }, ...Details.contents(this.set, this.head, details, row)));
      const sheet = matchMedia("(max-width: 40rem)").matches;
      if (!this.opened.open) {
        if (sheet) this.opened.showModal();
        else this.opened.show();
      }
      this.opened.scrollTop = 0;
      if (!sheet) this.opened.scrollIntoView({ block: "nearest" });
      close.focus({ preventScroll: true });
    }

    close() {
      this.opened.close();
      this.grid.focus();
    }

    csv() {
      return Saving.csv(this.set.columns, this.set.order);
    }

    save() {
      Saving.save(this.csv(), `${this.head.name}.csv`);
    }

    async copy() {
      const done = await Saving.copy(this.csv());
      const fit = grouped(String(this.set.order.length));
      this.live.textContent = done ? `Copied ${fit} rows` : "Copying is blocked here: save the file instead";
    }
  }

  const near = new IntersectionObserver((entries) => {
    for (const entry of entries.filter((each) => each.isIntersecting)) {
      near.unobserve(entry.target);
      new Explorer(entry.target).start().catch(console.error);
    }
  }, { rootMargin: "600px" });
  for (const figure of document.querySelectorAll("[data-explorer]")) near.observe(figure);
})();
