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

  const show = (occasion: Occasion) => {
    view = openView({
      root,
      client,
      refused: (failure, hasSeen) => turnAway(hasSeen ? 'later' : occasion, failure),
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
  const code = takeCode();
  if (code === null) return show('first');
  try {
    await credential.logIn(code);
    show('fresh');
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    turnAway('code', error);
  }
}

/** The code of a link, which the address has only until it is read. */
function takeCode(): string | null {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (code !== null) history.replaceState(null, '', `${location.pathname}${location.search}`);
  return code;
}
