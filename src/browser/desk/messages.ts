// The conversation as it is kept: messages with their attachments, the newest at the end.
import { momentOf } from '../../terminal/moments.ts';
import { readableSize } from '../../terminal/sizes.ts';
import { type Messages, messageSource } from '../../tui/feed/sources.ts';
import { describeCall } from '../../tui/state/activity.ts';
import { h } from '../page/element.ts';
import { keyedList } from '../page/keyed.ts';
import { markdownView } from '../page/markdown-view.ts';
import { foreign } from '../page/foreign.ts';
import { safeText } from '../page/safe-text.ts';
import { type Tab, type TabView, verbatim } from './tab-view.ts';

type Message = Messages['items'][number];
type Block = Message['content']['content'][number];

const MOST_OUTPUT = 20_000;

function messagesTab(): TabView {
  const element = h('div', { class: 'messages' });
  let zone = 'UTC';
  const list = keyedList<Message>(
    element,
    ({ id }) => String(id),
    () => {
      const article = h('article', { class: 'message' });
      let drawn: Message | null = null;
      return {
        element: article,
        draw(message) {
          // Messages do not change, but each read brings them anew.
          if (drawn !== null && drawn.content.content.length === message.content.content.length) return;
          drawn = message;
          article.replaceChildren(...contentsOf(message, zone));
        },
      };
    },
  );
  return {
    element,
    draw({ data, tz }) {
      zone = tz;
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
      h('span', { class: `glyph is-${isUser ? 'accent' : 'running'}`, 'aria-hidden': 'true' }, isUser ? '❯' : '●'),
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
      return [h('p', { class: 'used is-accent' }, '▸ ', foreign(describeCall(block.name, block.input)))];
    case 'tool_result': {
      const text = safeText(block.content.trim(), MOST_OUTPUT);
      if (text === '') return [];
      const head = h(
        'summary',
        { class: block.is_error ? 'is-failed' : 'dim' },
        block.is_error ? '✗ failed' : 'result',
      );
      return [h('details', { class: 'call' }, head, verbatim(text, block.is_error ? 'is-failed' : ''))];
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
