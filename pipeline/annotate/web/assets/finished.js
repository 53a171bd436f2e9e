// The page of a person whose part has ended: says how many decisions this browser has not sent.

import { tn } from "./messages.js";
import { Store } from "./store.js";

const at = (id) => document.getElementById(id);
const stores = await Promise.all(JSON.parse(at("stores").textContent).map((name) => Store.open(name)));
const count = stores.flatMap((store) => store.names("w:")).length;
at("unsaved").hidden = count === 0;
at("close").hidden = count > 0;
if (count) {
  at("unsaved").textContent = tn(
    "{n} decision is not saved. It stays in this browser. Ask the coordinator to resume your part, then open your link in this browser again.",
    "{n} decisions are not saved. They stay in this browser. Ask the coordinator to resume your part, then open your link in this browser again.", count);
}
