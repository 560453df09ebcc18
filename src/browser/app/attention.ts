// Whether anybody looks: a page that nobody sees asks for nothing, and begins again at once when it is seen.

/**
 * A page may be hidden for so long before it rests. Soon: a browser has six connections to a daemon that speaks HTTP/1.1, for all pages
 * together, and each page holds one or two.
 */
const PATIENCE_MS = 2_000;
const DOUBTFUL_MS = 10_000;

interface Page {
  readonly document: EventTarget & { readonly hidden: boolean };
  readonly window: EventTarget;
}

/** Calls `rest` when nobody has looked for a while, and `wake` when somebody looks again. Returns how to end that. */
export function watchAttention({ document, window }: Page, rest: () => void, wake: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isResting = false;
  let hiddenAt = 0;
  const sleep = () => {
    clearTimeout(timer);
    timer = undefined;
    if (isResting) return;
    isResting = true;
    rest();
  };
  const look = () => {
    if (document.hidden) {
      hiddenAt = Date.now();
      timer ??= setTimeout(sleep, PATIENCE_MS);
      return;
    }
    // A device that slept may have connections that are dead without knowing.
    if (hiddenAt !== 0 && Date.now() - hiddenAt > DOUBTFUL_MS) sleep();
    clearTimeout(timer);
    timer = undefined;
    if (isResting) {
      isResting = false;
      wake();
    }
  };
  document.addEventListener('visibilitychange', look);
  // A page that is put away, or that its device puts to sleep, keeps no connection.
  document.addEventListener('freeze', sleep);
  window.addEventListener('pagehide', sleep);
  window.addEventListener('pageshow', look);
  // One that is opened behind others hasn't begun yet.
  if (document.hidden) sleep();
  return () => {
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', look);
    document.removeEventListener('freeze', sleep);
    window.removeEventListener('pagehide', sleep);
    window.removeEventListener('pageshow', look);
  };
}
