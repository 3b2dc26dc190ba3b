// A reloaded page keeps its name, by which the server finds its question. While the page is open the name is not
// stored, so a duplicated page gets another one.
const page = sessionStorage.getItem("page") ?? crypto.randomUUID();
sessionStorage.removeItem("page");
window.addEventListener("pagehide", () => sessionStorage.setItem("page", page));

// Focus the workbench after its first frame, without a click. Before that frame it would miss the focus event.
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
