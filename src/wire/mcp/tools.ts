// The tools by which other agents hand tasks over: their names, their words, what they take and what they give.
import type { AnyShape } from '../shapes/shape.ts';
import { fileList, filePart, listInput, readInput } from './files.ts';
import { answerInput, lookInput, stopInput, taskInput, taskStatus } from './task.ts';

/** A tool, as its readers find it. `changes`: it is more than a look. */
export interface ToolWords {
  readonly title: string;
  readonly description: string;
  readonly input: AnyShape;
  readonly output: AnyShape;
  readonly changes: boolean;
}

/** What a model is told of all of them. */
export const INSTRUCTIONS = `Errand runs tasks on a server of its own: an agent there has its own tools and files, and does not see yours or this conversation.
Hand a task over with run_task. If it is not over when that returns, ask with get_result; if it waits for an answer, put the question to your user and call answer_question.
Keep session_id: a later task with it goes on where this one ended. Files that a task made are listed by list_files and read by read_file.`;

export const TOOLS = {
  run_task: {
    title: 'Hand over a task',
    description:
      'Hand a task over to the agent of Errand, and wait for its answer. It works on its own, with its own tools and files. Whoever cancels the call while it waits stops the task.',
    input: taskInput,
    output: taskStatus,
    changes: true,
  },
  get_result: {
    title: 'Ask for the result of a task',
    description: 'How a task stands: its answer once it is over, or the question that it asks.',
    input: lookInput,
    output: taskStatus,
    changes: false,
  },
  answer_question: {
    title: 'Answer the question of a task',
    description: 'Answer the question that a task waits for; it then goes on.',
    input: answerInput,
    output: taskStatus,
    changes: true,
  },
  stop_task: {
    title: 'Stop a task',
    description: 'Stop a task. Its session and its files remain.',
    input: stopInput,
    output: taskStatus,
    changes: true,
  },
  list_files: {
    title: 'List files',
    description: 'List the files of a session, or those that one task added or changed, in the order of their paths.',
    input: listInput,
    output: fileList,
    changes: false,
  },
  read_file: {
    title: 'Read a file',
    description:
      'Read a file of a session: a text in parts, a picture whole. Other files have a link and an address to download them.',
    input: readInput,
    output: filePart,
    changes: false,
  },
} as const satisfies Readonly<Record<string, ToolWords>>;

export type ToolName = keyof typeof TOOLS;
