// What is shown to those who may not look on, or not yet: why, and how they come in.
import { h, setText } from '../page/element.ts';

export interface Login {
  readonly element: HTMLElement;
  readonly focus: () => void;
}

/** `enter` gets the key that was pasted. */
export function loginView(why: string, enter: (key: string) => void): Login {
  const key = h('input', {
    type: 'password',
    id: 'key',
    name: 'key',
    autocomplete: 'off',
    spellcheck: 'false',
    required: true,
  });
  const said = h('p', { class: 'why', role: 'alert' });
  const form = h(
    'form',
    {},
    h('label', { for: 'key' }, 'Or paste a key of scope admin'),
    key,
    h('button', { type: 'submit' }, 'Look on'),
    h(
      'p',
      { class: 'dim' },
      'The key stays in the memory of this page, and is forgotten when you close it or load it again.',
    ),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const pasted = key.value.trim();
    key.value = '';
    // A header takes no other characters.
    if (/^[\x21-\x7e]+$/.test(pasted)) enter(pasted);
    else setText(said, 'This is no key.');
  });
  setText(said, why);
  const element = h(
    'main',
    { class: 'login' },
    h('h1', {}, 'Errand office'),
    said,
    h('p', {}, 'On the machine of the daemon, this prints a link that is good once:'),
    h('pre', { tabindex: '0' }, h('code', {}, 'errand office --web')),
    form,
  );
  return { element, focus: () => key.focus() };
}
