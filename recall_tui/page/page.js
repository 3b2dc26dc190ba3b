// A page that is loaded anew has the name of the one before it, by which the server knows its question. While it is
// open the name is kept nowhere else: a copy of the page is another one.
const page = sessionStorage.getItem("page") ?? crypto.randomUUID();
sessionStorage.removeItem("page");
window.addEventListener("pagehide", () => sessionStorage.setItem("page", page));

// The keys belong to the workbench from its first frame on, without a click; before it, it would not hear of the focus.
window.addEventListener("DOMContentLoaded", () => {
  document.querySelector(".textual-terminal").dataset.sessionWebsocketUrl += `/${page}`;
  const drawn = new MutationObserver(() => {
    if (document.body.classList.contains("-first-byte")) {
      drawn.disconnect();
      document.querySelector(".xterm-helper-textarea").focus();
    }
  });
  drawn.observe(document.body, { attributeFilter: ["class"] });
});
