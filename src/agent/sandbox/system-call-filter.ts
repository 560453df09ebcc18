// Generates the system call filter for the kernel: a classic BPF program over a call's number and arguments.
import type { SandboxGrant } from '../port/grants.ts';
import { CALL_RULES, type CallRule, type Condition, ENOSYS, NEWEST_CALL, WATCH_RULES } from './system-calls.ts';

/** An instruction: code, instructions to skip when its comparison holds and when it does not, and its operand. */
type Instruction = readonly [code: number, whenTrue: number, whenFalse: number, operand: number];

/** The kernel's name of each architecture, and the column of its numbers in the table. */
const ARCHITECTURES: Readonly<Record<string, { readonly audit: number; readonly column: 0 | 1 }>> = {
  x64: { audit: 0xc000003e, column: 0 },
  arm64: { audit: 0xc00000b7, column: 1 },
};

const [LOAD, EQUAL, GREATER, ANY_OF, RETURN] = [0x20, 0x15, 0x25, 0x45, 0x06];
const [ALLOW, ERROR, KILL] = [0x7fff0000, 0x00050000, 0x80000000];

/** Offsets in `struct seccomp_data`. Arguments have 64 bits, the lower half first. */
const [NUMBER_AT, ARCHITECTURE_AT, ARGUMENTS_AT] = [0, 4, 16];
const lowerHalf = (argument: number) => ARGUMENTS_AT + 8 * argument;
const upperHalf = (argument: number) => lowerHalf(argument) + 4;

/**
 * The filter for `process.arch`. A call of another architecture, such as of a 32-bit program, kills the process: its numbers
 * have other meanings. Numbers of the x32 ABI are above the newest known one and count as unknown calls. Watches of files exist
 * only where their number is limited. Throws for an architecture whose numbers are not in the table.
 */
export function systemCallFilter(arch: string, watches: SandboxGrant['watches'] = 'limited'): Buffer {
  const known = ARCHITECTURES[arch];
  if (known === undefined)
    throw new Error(`The sandbox has no filter of system calls for ${arch}, only for x64 and arm64.`);
  const instructions: Instruction[] = [
    [LOAD, 0, 0, ARCHITECTURE_AT],
    [EQUAL, 1, 0, known.audit],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, NUMBER_AT],
    [GREATER, 0, 1, NEWEST_CALL],
    [RETURN, 0, 0, ERROR | ENOSYS],
    ...[...CALL_RULES, ...(watches === 'refused' ? WATCH_RULES : [])].flatMap((rule) =>
      decide(rule, rule.numbers[known.column]),
    ),
    [RETURN, 0, 0, ALLOW],
  ];
  return encode(instructions);
}

/** Decides a call if it is this one; otherwise continues after it. */
function decide(rule: CallRule, number: number | null): Instruction[] {
  if (number === null) return [];
  const body: Instruction[] = [...rule.allowed.flatMap(allowIf), [RETURN, 0, 0, ERROR | rule.error]];
  return [[EQUAL, 0, body.length, number], ...body];
}

/** Allows the call when all conditions hold; otherwise continues after itself. */
function allowIf(conditions: readonly Condition[]): Instruction[] {
  return conditions.reduceRight<Instruction[]>((then, condition) => when(condition, then), [[RETURN, 0, 0, ALLOW]]);
}

/** Runs `then` when the condition holds; skips it otherwise. */
function when(condition: Condition, then: readonly Instruction[]): Instruction[] {
  const past = then.length;
  const lower: Instruction = [LOAD, 0, 0, lowerHalf(condition.argument)];
  if ('without' in condition) return [lower, [ANY_OF, past, 0, condition.without], ...then];
  if ('atMost' in condition) {
    const upper: Instruction = [LOAD, 0, 0, upperHalf(condition.argument)];
    return [upper, [EQUAL, 0, past + 2, 0], lower, [GREATER, past, 0, condition.atMost], ...then];
  }
  const { oneOf } = condition;
  const compare = oneOf.map((value, at): Instruction => {
    const left = oneOf.length - at - 1;
    return [EQUAL, left, left === 0 ? past : 0, value];
  });
  return [lower, ...compare, ...then];
}

function encode(instructions: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(8 * instructions.length);
  for (const [at, [code, whenTrue, whenFalse, operand]] of instructions.entries()) {
    bytes.writeUInt16LE(code, 8 * at);
    bytes.writeUInt8(whenTrue, 8 * at + 2);
    bytes.writeUInt8(whenFalse, 8 * at + 3);
    bytes.writeUInt32LE(operand >>> 0, 8 * at + 4);
  }
  return bytes;
}
