// The conversation as it is kept: messages with their attachments, the newest at the end.
import { momentOf } from '../../terminal/moments.ts';
import { readableSize } from '../../terminal/sizes.ts';
import type { OfficeMessagesWire } from '../../wire/office/session.ts';
import { describeCall } from '../state/activity.ts';
import { cell, EMPTY, type Line, span } from '../text/line.ts';
import { type Messages, messageSource } from '../feed/sources.ts';
import { folded, rememberLines, textLines } from '../transcript/blocks.ts';
import { inputLines, UNFOLDED } from '../transcript/call-lines.ts';
import { markdownText } from '../transcript/markdown.ts';
import { callText } from '../transcript/plain-text.ts';
import { readNextOf, type Tab } from './tab.ts';

type Message = OfficeMessagesWire['items'][number];
type Block = Message['content']['content'][number];

/** Lines of a result while it is folded. */
const FOLDED = 2;

const linesOf = rememberLines((message: Message, { width, tz }, isUnfolded: boolean) => [
  {
    spans: [
      span(message.role === 'user' ? '❯ User' : '● Agent', message.role === 'user' ? 'accent' : 'running'),
      cell(`   ${momentOf(Date.parse(message.created_at), tz)}`, width - 7, 'dim'),
    ],
  },
  ...message.content.content.flatMap((block) => blockLines(block, width, isUnfolded)),
  ...message.attachments.map(
    ({ name, size }): Line => ({
      spans: [span('  + ', 'accent'), cell(`${name}  ${readableSize(size)}`, width - 4)],
    }),
  ),
  EMPTY,
]);

function blockLines(block: Block, width: number, isUnfolded: boolean): readonly Line[] {
  switch (block.type) {
    case 'text':
      return markdownText(block.text, width, 2);
    case 'tool_use':
      return [
        { spans: [span('  ▸ ', 'completed'), cell(describeCall(block.name, block.input), width - 4, 'accent')] },
        ...(isUnfolded ? inputLines(block.name, block.input, width) : []),
      ];
    case 'tool_result': {
      if (block.content.trim() === '') return [];
      const lines = textLines(block.content.trimEnd(), width, block.is_error ? 'failed' : 'dim', 6);
      return folded(lines, isUnfolded ? UNFOLDED : FOLDED, width, 6);
    }
    default:
      // Files and pictures are among the attachments.
      return [];
  }
}

function* messageText({ role, created_at: at, content, attachments }: Message): Iterable<string> {
  yield `${role === 'user' ? '❯ User' : '● Agent'}   ${at}\n`;
  for (const block of content.content) {
    if (block.type === 'text') yield `${block.text}\n`;
    if (block.type === 'tool_use') yield* callText(block.name, block.input);
    if (block.type === 'tool_result') yield `${block.content.trimEnd()}\n`;
  }
  for (const { name, size } of attachments) yield `+ ${name}  ${readableSize(size)}\n`;
  yield '\n';
}

export const messages: Tab = {
  name: 'messages',
  title: 'Messages',
  shortTitle: 'Mess',
  source: messageSource,
  readNext: ({ positions }, data, view) =>
    readNextOf(data as Messages | undefined, positions.messages !== undefined, view.isAtStart),
  items: ({ isUnfolded }, data, room) => {
    const list = (data as Messages | undefined)?.items ?? [];
    return {
      count: list.length,
      keyAt: (at) => list[at]?.id ?? 0,
      linesAt: (at) => {
        const message = list[at];
        return message === undefined ? [] : linesOf(message, room, isUnfolded);
      },
      startsAtEnd: true,
    };
  },
  text: function* (_screen, data) {
    for (const message of (data as Messages | undefined)?.items ?? []) yield* messageText(message);
  },
};
