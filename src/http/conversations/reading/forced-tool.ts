// The tool that a client has its model call (M4): its schema is that of the result, and the answer is a call of it.
import { unprocessable } from '../../../domain/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json.ts';
import type { ResultTool } from '../../../domain/sessions/run.ts';
import { line } from '../../../wire/shapes/scalars.ts';
import { readClientSchema } from './client-schema.ts';

/** What a request says of tools. */
type ToolRequest = { readonly [field: string]: unknown };

export interface ForcedTool {
  readonly resultTool: ResultTool;
  readonly outputSchema: JsonObject;
  readonly schemaField: string;
  /** As it was sent. */
  readonly sent: JsonObject;
}

/** A tool of the client. `definition` has its name, and its schema under the name that the form says; it is at `path`. */
interface Defined {
  readonly definition: JsonObject;
  readonly path: string;
  readonly sent: JsonObject;
}

/** `any` tool, or the one of a name, which is at `path` of the choice. */
type Choice = 'any' | { readonly name: JsonValue | undefined; readonly path: string } | null;

/** How a protocol lists tools, and forces one. */
interface ToolForm {
  readonly tools: string;
  readonly choice: string;
  readonly schema: 'parameters' | 'input_schema';
  /** Where a tool of the list is defined: in it, or in this field of it. */
  readonly inside?: 'function';
  readonly isClients: (tool: JsonObject) => boolean;
  readonly choose: (choice: JsonValue) => Choice;
  readonly isFunction?: true;
}

const ofFunction = ({ type }: JsonObject): boolean => type === 'function';

/** What OpenAI's protocols have in common. `nameIn`: of a tool that is chosen, `listIn` of several that are allowed. */
function chooseFunction(
  nameIn: (choice: JsonObject) => JsonValue | undefined,
  namePath: string,
  listIn: (choice: JsonObject) => JsonValue | undefined,
) {
  return (choice: JsonValue): Choice => {
    if (choice === 'required') return 'any';
    if (!isJsonObject(choice)) return null;
    if (ofFunction(choice)) return { name: nameIn(choice), path: namePath };
    const allowed = choice['type'] === 'allowed_tools' ? listIn(choice) : undefined;
    if (!isJsonObject(allowed) || allowed['mode'] !== 'required' || !Array.isArray(allowed['tools'])) return null;
    const [only, ...others] = allowed['tools'];
    if (!isJsonObject(only) || others.length > 0 || !ofFunction(only)) return null;
    return { name: nameIn(only), path: '' };
  };
}

const inFunction = ({ function: named }: JsonObject) => (isJsonObject(named) ? named['name'] : undefined);

const CHAT: ToolForm = {
  tools: 'tools',
  choice: 'tool_choice',
  schema: 'parameters',
  inside: 'function',
  isClients: ofFunction,
  choose: chooseFunction(inFunction, '.function.name', ({ allowed_tools: allowed }) => allowed),
};

/** As chat had it before there were tools. */
const FUNCTIONS: ToolForm = {
  tools: 'functions',
  choice: 'function_call',
  schema: 'parameters',
  isClients: () => true,
  choose: (choice) => (isJsonObject(choice) ? { name: choice['name'], path: '.name' } : null),
  isFunction: true,
};

const RESPONSES: ToolForm = {
  tools: 'tools',
  choice: 'tool_choice',
  schema: 'parameters',
  isClients: ofFunction,
  choose: chooseFunction(
    ({ name }) => name,
    '.name',
    (choice) => choice,
  ),
};

/** Tools of Anthropic's have types of their own. */
const MESSAGES: ToolForm = {
  tools: 'tools',
  choice: 'tool_choice',
  schema: 'input_schema',
  isClients: ({ type }) => type === undefined || type === null || type === 'custom',
  choose: (choice) => {
    if (!isJsonObject(choice)) return null;
    if (choice['type'] === 'any') return 'any';
    return choice['type'] === 'tool' ? { name: choice['name'], path: '.name' } : null;
  },
};

const FORMS = { chat: [CHAT, FUNCTIONS], responses: [RESPONSES], messages: [MESSAGES] } as const satisfies Record<
  string,
  readonly ToolForm[]
>;

/** The tool that a request forces: the one that it names, or any where there is only one. Throws `unprocessable`. */
export function readForcedTool(request: ToolRequest, protocol: keyof typeof FORMS): ForcedTool | null {
  for (const form of FORMS[protocol]) {
    const found = findForced(request, form);
    if (found !== null) return readTool(found, form);
  }
  return null;
}

/** How many tools of its client a request has. */
export function countTools(request: ToolRequest, protocol: keyof typeof FORMS): number {
  return FORMS[protocol].reduce((sum, { tools }) => sum + listOf(request[tools]).length, 0);
}

const listOf = (tools: unknown): readonly JsonValue[] => (Array.isArray(tools) ? (tools as JsonValue[]) : []);

/** Null where none is forced, or one that the client hasn't defined itself. */
function findForced(request: ToolRequest, form: ToolForm): Defined | null {
  const chosen = request[form.choice] as JsonValue | undefined;
  const choice = chosen === undefined ? null : form.choose(chosen);
  if (choice === null) return null;
  const tools = listOf(request[form.tools]);
  if (choice === 'any') return tools.length === 1 ? definedIn(tools[0], 0, form) : null;
  const index = tools.findIndex((tool) => typeof choice.name === 'string' && nameOf(tool, form) === choice.name);
  if (index === -1) throw unprocessable(form.choice + choice.path, `must name one of ${form.tools}`);
  return definedIn(tools[index], index, form);
}

function nameOf(tool: JsonValue, { inside }: ToolForm): JsonValue | undefined {
  if (!isJsonObject(tool)) return undefined;
  return inside === undefined ? tool['name'] : inFunction(tool);
}

function definedIn(tool: JsonValue | undefined, index: number, { tools, inside, isClients }: ToolForm): Defined | null {
  if (!isJsonObject(tool) || !isClients(tool)) return null;
  const path = `${tools}[${index}]`;
  if (inside === undefined) return { definition: tool, path, sent: tool };
  const definition = tool[inside];
  if (!isJsonObject(definition)) throw unprocessable(`${path}.${inside}`, 'must be an object');
  return { definition, path: `${path}.${inside}`, sent: tool };
}

const toolName = line({ max: 128 });

/** The model reads name and description. OpenAI's clients may leave out the schema of a function without parameters. */
function readTool({ definition, path, sent }: Defined, form: ToolForm): ForcedTool {
  const name = toolName.read(definition['name'], `${path}.name`);
  const { description } = definition;
  const schemaField = `${path}.${form.schema}`;
  const given = definition[form.schema];
  const schema = form.schema === 'parameters' ? (given ?? { type: 'object', properties: {} }) : given;
  const words = { title: name, ...(typeof description === 'string' && { description }) };
  return {
    resultTool: { name, ...(form.isFunction && { isFunction: true }) },
    outputSchema: ofObjects(readClientSchema(schema, schemaField, words), schemaField),
    schemaField,
    sent,
  };
}

/** The input of a tool is an object, even where its schema leaves that open. */
function ofObjects(schema: JsonObject, field: string): JsonObject {
  const { $ref, type } = schema;
  if ($ref !== undefined) {
    const { title, description, definitions } = schema;
    const kept = Object.entries({ title, description, definitions }).filter(([, value]) => value !== undefined);
    return { ...(Object.fromEntries(kept) as JsonObject), type: 'object', allOf: [{ $ref }] };
  }
  if (type !== undefined && type !== 'object' && !(Array.isArray(type) && type.includes('object')))
    throw unprocessable(`${field}.type`, 'must be "object"');
  return { ...schema, type: 'object' };
}
