// The ask_user tool: a question that the run waits for, without a worker, until its user answers (I2).
import type { AskingTool } from '../port/tool.ts';
import { inputOf } from './workspace-tool.ts';

export const askUser: AskingTool = {
  kind: 'waits',
  name: 'ask_user',
  description:
    'Asks the user a question and waits for the answer, for hours if necessary. Ask only when you cannot continue sensibly without it, and put everything into one question.',
  inputSchema: inputOf(
    {
      question: {
        type: 'string',
        minLength: 1,
        maxLength: 4_000,
        description: 'What you need to know, with everything the user needs to answer it.',
      },
      options: {
        type: 'array',
        items: { type: 'string', minLength: 1, maxLength: 200 },
        minItems: 2,
        maxItems: 10,
        uniqueItems: true,
        description: 'Answers to choose from. The user may still answer in other words.',
      },
      multiple: { type: 'boolean', description: 'Whether several of the options may be chosen. Default: false.' },
    },
    ['question'],
  ),
};
