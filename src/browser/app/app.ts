// The page as a whole: whom it lets in, and what they see.
import { ClientError } from '../../client/transport/client-error.ts';
import { makeAsk } from '../reach/ask.ts';
import { makeCredential } from '../reach/credential.ts';
import { makeReads } from '../reach/reads.ts';
import { loginView } from './login.ts';
import { openView, type View } from './view.ts';
import { type Occasion, whyText } from './why.ts';

/** Starts it, inside of an element. */
export async function startOffice(place: Element): Promise<void> {
  const root = document.documentElement.dataset['root'] ?? '/office';
  const credential = makeCredential(root);
  const client = makeReads(root, makeAsk(root, credential), credential);
  let view: View | null = null;

  const turnAway = (occasion: Occasion, error: unknown) => {
    view?.close();
    view = null;
    credential.useKey(null);
    document.title = 'Errand office';
    const login = loginView(whyText(occasion, error), (key) => {
      credential.useKey(key);
      show('key');
    });
    place.replaceChildren(login.element);
    login.focus();
  };

  /** `why`: what is said of the occasion in place of the daemon's refusal to look on. */
  const show = (occasion: Occasion, why?: ClientError) => {
    view = openView({
      root,
      client,
      refused: (failure, hasSeen) => (hasSeen ? turnAway('later', failure) : turnAway(occasion, why ?? failure)),
      leave,
    });
    place.replaceChildren(view.element);
  };

  const leave = async () => {
    try {
      await credential.logOut();
    } catch (error) {
      if (error instanceof ClientError) return error;
      throw error;
    }
    turnAway('first', null);
    return null;
  };

  // A link that is opened where the office is open changes no more than this.
  addEventListener('hashchange', () => {
    if (location.hash.includes('code=')) location.reload();
  });
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (code === null) return show('first');
  try {
    await credential.logIn(code);
    forgetCode();
    show('fresh');
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    // Where nobody answered, the page can be loaded once more.
    if (error.failure.kind !== 'refused') return turnAway('code', error);
    forgetCode();
    // The browser may be logged in still, as where a link is opened again.
    show('code', error);
  }
}

/** The address has the code of a link only until that was tried. */
function forgetCode(): void {
  history.replaceState(null, '', `${location.pathname}${location.search}`);
}
