// Where the page is scrolled to: it follows the end while its user is there, and stays where they are otherwise.
import type { Sight } from './sight.ts';

export interface Scrolling {
  readonly sight: () => Sight;
  /** Draws, and then keeps in sight what was. `isOther`: what is drawn is something else than before. */
  readonly around: (startsAtEnd: boolean, isOther: boolean, draw: () => void) => void;
  readonly by: (lines: number) => void;
  readonly toStart: () => void;
  readonly toEnd: () => void;
  readonly close: () => void;
}

/** Nearer than this is there. */
const NEAR_PX = 80;
const LINE_PX = 60;

const height = () => document.documentElement.scrollHeight;
const isNearEnd = () => innerHeight + scrollY >= height() - NEAR_PX;

/** `redraw` is called when the user comes to a beginning or an end of the element, which fills the page. */
export function makeScrolling(element: Element, redraw: () => void): Scrolling {
  let isFollowing = true;
  let isAtStart = true;
  let isAtEnd = true;
  let lastY = 0;

  const scrolled = () => {
    if (!element.isConnected) return;
    const isUp = scrollY < lastY - 1;
    lastY = scrollY;
    const isEnd = isNearEnd();
    // What comes into sight gets its height only then: whoever followed the end is no longer there, but has not left it.
    if (isFollowing && !isEnd && !isUp) return scrollTo(0, height());
    isFollowing = isEnd;
    const changed = isAtEnd !== isEnd || isAtStart !== scrollY < NEAR_PX;
    isAtEnd = isEnd;
    isAtStart = scrollY < NEAR_PX;
    if (changed) redraw();
  };
  addEventListener('scroll', scrolled, { passive: true });

  return {
    sight: () => ({ isAtStart, isAtEnd }),
    around(startsAtEnd, isOther, draw) {
      if (isOther) isFollowing = startsAtEnd;
      const before = isOther ? null : anchor();
      draw();
      if (isFollowing && startsAtEnd) scrollTo(0, height());
      else if (isOther) scrollTo(0, 0);
      else if (before !== null && before.element.isConnected) {
        const moved = before.element.getBoundingClientRect().top - before.top;
        if (Math.abs(moved) >= 1) scrollBy(0, moved);
      }
      lastY = scrollY;
      isAtEnd = isNearEnd();
      isAtStart = scrollY < NEAR_PX;
    },
    by: (lines) => scrollBy(0, lines * LINE_PX),
    toStart: () => scrollTo(0, 0),
    toEnd() {
      isFollowing = true;
      scrollTo(0, height());
    },
    close: () => removeEventListener('scroll', scrolled),
  };
}

/** What is at the top of the screen: it stays there when something comes above it. */
function anchor(): { readonly element: Element; readonly top: number } | null {
  const at = document
    .elementFromPoint(innerWidth / 2, Math.min(innerHeight / 2, 240))
    ?.closest('.block, article, .call, .event');
  return at == null ? null : { element: at, top: at.getBoundingClientRect().top };
}
