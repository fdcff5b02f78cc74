// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Shows the page as it is now, every few seconds, where the reader has scrolled to.
(() => {
  "use strict";
  const seconds = Number(document.body.dataset.refresh);
  if (!seconds) return;
  const renew = async () => {
    if (!document.hidden) {
      try {
        const answer = await fetch(location.pathname, { cache: "no-store" });
        if (answer.ok) {
          const page = new DOMParser().parseFromString(await answer.text(), "text/html");
          const [old, made] = [document.getElementById("live"), page.getElementById("live")];
          const box = old.querySelector(".box");
          const [left, top] = [box.scrollLeft, box.scrollTop];
          if (!old.contains(document.activeElement) && old.innerHTML !== made.innerHTML) {
            old.replaceWith(document.adoptNode(made));
            Object.assign(document.querySelector(".box"), { scrollLeft: left, scrollTop: top });
          }
        }
      } catch { /* the server has ended; what was shown last stays */ }
    }
    setTimeout(renew, seconds * 1000);
  };
  setTimeout(renew, seconds * 1000);
})();
