// The headers under which a file of someone else is sent, so that it can't act in the daemon's origin (E7, F3).
import type { Presentation } from '../../files/media-type.ts';
import type { Headers } from '../replies/head.ts';

/** Images and media can be displayed; nothing can run. */
const PASSIVE =
  "default-src 'none'; script-src 'none'; img-src 'self' data:; media-src 'self'; style-src 'unsafe-inline'";

/**
 * A page may run its own scripts, in an origin that nothing else has, and load files of its own. The sandbox must never get
 * `allow-same-origin`.
 */
const ACTIVE =
  'sandbox allow-scripts allow-forms allow-modals allow-popups allow-popups-to-escape-sandbox allow-downloads; ' +
  "default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval'; form-action 'none'; base-uri 'none'";

type Kind = 'active' | 'pdf' | 'passive';

const POLICIES: { readonly [K in Kind]: string } = {
  active: ACTIVE,
  // Browsers do not start their PDF viewers in a sandbox; the viewers isolate the document's scripts themselves.
  pdf: `${PASSIVE}; object-src 'self'`,
  passive: `${PASSIVE}; sandbox`,
};

function kindOf({ contentType, disposition }: Presentation): Kind {
  if (contentType === 'application/pdf') return 'pdf';
  return disposition === 'inline' && contentType.startsWith('text/html') ? 'active' : 'passive';
}

/** The headers of a file that is sent in this way. Whoever has the address may show the file, on a page of any origin. */
export function policyOf(presentation: Presentation): Headers {
  return {
    'Content-Security-Policy': POLICIES[kindOf(presentation)],
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'Referrer-Policy': 'no-referrer',
  };
}
