// The keys belong to the workbench from its first frame on, without a click; before it, it would not hear of the focus.
window.addEventListener("DOMContentLoaded", () => {
  const drawn = new MutationObserver(() => {
    if (document.body.classList.contains("-first-byte")) {
      drawn.disconnect();
      document.querySelector(".xterm-helper-textarea").focus();
    }
  });
  drawn.observe(document.body, { attributeFilter: ["class"] });
});
