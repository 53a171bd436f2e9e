"""Watches pages for forbidden acts: console messages, requests, dialogs, errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, ConsoleMessage, Dialog, Page, Request, Route

HARMLESS = ("data:", "blob:")


class Watch:
    """Collects the faults of all pages of a window, and blocks their requests.

    Parameters
    ----------
    context : playwright BrowserContext
        The window.
    address : str
        The page that may be requested.
    """

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.context = context
        self.address = address
        self.faults: list[str] = []
        context.route("**/*", self._route)
        context.on("request", self._request)
        context.on("console", self._console)
        context.on("dialog", self._dialog)
        context.on("weberror", lambda error: self.faults.append(f"error: {error.error}"))
        context.on("page", self._page)

    def _own(self, address: str) -> bool:
        return address.partition("#")[0] == self.address or address.startswith(HARMLESS)

    def _route(self, route: Route) -> None:
        if self._own(route.request.url):
            route.continue_()
        else:
            route.abort()

    def _request(self, request: Request) -> None:
        if not self._own(request.url):
            self.faults.append(f"request: {request.url[:200]}")

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.faults.append(f"console: {message.text[:500]}")

    def _dialog(self, dialog: Dialog) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _page(self, page: Page) -> None:
        page.on("websocket", lambda socket: self.faults.append(f"request: {socket.url}"))
        page.on("crash", lambda _: self.faults.append("the page crashed"))
