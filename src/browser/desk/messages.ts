// The conversation as it is kept: messages with their attachments, the newest at the end.
import { momentOf } from '../../terminal/moments.ts';
import { readableSize } from '../../terminal/sizes.ts';
import { type Messages, messageSource } from '../../tui/feed/sources.ts';
import { describeCall } from '../../tui/state/activity.ts';
import { h } from '../page/element.ts';
import { glyphView } from '../page/glyph.ts';
import { keyedList } from '../page/keyed.ts';
import { markdownView } from '../page/markdown-view.ts';
import { foreign } from '../page/foreign.ts';
import { safeText } from '../page/safe-text.ts';
import { inputView } from './change.ts';
import { foldable, type Tab, type TabView, verbatim } from './tab-view.ts';

type Message = Messages['items'][number];
type Block = Message['content']['content'][number];

function messagesTab(): TabView {
  const element = h('div', { class: 'messages' });
  let zone = 'UTC';
  let isUnfolded = false;
  const list = keyedList<Message>(
    element,
    ({ id }) => String(id),
    () => {
      const article = h('article', { class: 'message' });
      let drawn: Message | null = null;
      let wasUnfolded = false;
      return {
        element: article,
        draw(message) {
          // Messages do not change, but each read brings them anew.
          if (drawn?.content.content.length !== message.content.content.length) {
            drawn = message;
            wasUnfolded = false;
            article.replaceChildren(...contentsOf(message, zone));
          }
          if (wasUnfolded === isUnfolded) return;
          wasUnfolded = isUnfolded;
          for (const fold of article.querySelectorAll('details')) fold.open = isUnfolded;
        },
      };
    },
  );
  return {
    element,
    draw({ screen, data, tz }) {
      zone = tz;
      ({ isUnfolded } = screen);
      list.draw((data as Messages | undefined)?.items ?? []);
    },
  };
}

function contentsOf({ role, created_at: at, content, attachments }: Message, tz: string): readonly Node[] {
  const isUser = role === 'user';
  return [
    h(
      'h2',
      {},
      isUser ? glyphView('❯', 'accent') : glyphView('●', 'running'),
      isUser ? ' User ' : ' Agent ',
      h('span', { class: 'dim' }, momentOf(Date.parse(at), tz)),
    ),
    ...content.content.flatMap(blockViews),
    ...attachments.map(({ name, size }) =>
      h('p', { class: 'attached' }, h('span', { class: 'is-accent' }, '+ '), foreign(name), ` ${readableSize(size)}`),
    ),
  ];
}

function blockViews(block: Block): readonly Node[] {
  switch (block.type) {
    case 'text':
      return [h('div', { class: 'said' }, ...markdownView(block.text))];
    case 'tool_use':
      return [
        foldable(
          'call',
          [glyphView('▸'), h('span', { class: 'what' }, foreign(describeCall(block.name, block.input)))],
          () => inputView(block.name, block.input),
        ),
      ];
    case 'tool_result': {
      const { content, is_error: isError } = block;
      if (content.trim() === '') return [];
      const output = () => [verbatim(safeText(content.trimEnd()), isError ? 'is-failed' : '')];
      return [
        isError
          ? foldable('call is-failed', [glyphView('✗'), 'failed'], output)
          : foldable('call', [glyphView('▸'), h('span', { class: 'dim' }, 'result')], output),
      ];
    }
    default:
      // Files and pictures are among the attachments.
      return [];
  }
}

export const messages: Tab = {
  name: 'messages',
  startsAtEnd: true,
  source: messageSource,
  next: ({ data }, { isAtStart }) =>
    isAtStart && (data as Messages | undefined)?.hasOlder === true ? 'older' : undefined,
  make: messagesTab,
};
