// The filter of system calls: read as the kernel reads it, for both architectures, and tried behind the walls.
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { probeSandbox, runInSandbox } from '../../../src/agent/sandbox/sandbox.ts';
import { systemCallFilter } from '../../../src/agent/sandbox/system-call-filter.ts';
import { CALL_RULES, NEWEST_CALL } from '../../../src/agent/sandbox/system-calls.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

const [X64, ARM64, I386, ARM32] = [0xc000003e, 0xc00000b7, 0x40000003, 0x40000028];
const [EPERM, ENOSYS, EAFNOSUPPORT] = [1, 38, 97];

/** The filter's verdict on a call: 0 for allowed, an error's number, or `killed`. */
function verdict(program: Buffer, arch: number, number: number, args: readonly (number | bigint)[] = []) {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(arch, 4);
  for (const [at, value] of args.entries()) data.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)), 16 + 8 * at);
  let accumulator = 0;
  for (let at = 0; at < program.length / 8; at += 1) {
    const [code, whenTrue, whenFalse] = [program.readUInt16LE(8 * at), program[8 * at + 2]!, program[8 * at + 3]!];
    const operand = program.readUInt32LE(8 * at + 4);
    if (code === 0x06) return operand === 0x7fff0000 ? 0 : operand === 0x80000000 ? 'killed' : operand & 0xffff;
    if (code === 0x20) accumulator = data.readUInt32LE(operand);
    else {
      const tests: Record<number, boolean> = {
        0x15: accumulator === operand,
        0x25: accumulator > operand,
        0x45: (accumulator & operand) !== 0,
      };
      at += tests[code]! ? whenTrue : whenFalse;
    }
  }
  throw new Error('It runs past its end.');
}

describe.each([
  { name: 'x64', arch: X64, column: 0, others: [ARM64, I386, ARM32] },
  { name: 'arm64', arch: ARM64, column: 1, others: [X64, I386, ARM32] },
] as const)('the filter for $name', ({ name, arch, column, others }) => {
  const program = systemCallFilter(name);
  const call = (wanted: string, ...args: (number | bigint)[]) =>
    verdict(program, arch, CALL_RULES.find((rule) => rule.name === wanted)!.numbers[column]!, args);

  test('is a program that the kernel would take', () => {
    expect(program.length % 8).toBe(0);
    expect(program.length / 8).toBeLessThan(4_096);
  });

  test('allows every call without a rule, and none that is always refused', () => {
    const rules = new Map(CALL_RULES.map((rule) => [rule.numbers[column], rule]));
    expect(rules.size).toBeGreaterThan(60);
    for (let number = 0; number <= NEWEST_CALL; number += 1) {
      const rule = rules.get(number);
      if (rule === undefined) expect([number, verdict(program, arch, number)]).toEqual([number, 0]);
      else if (rule.allowed.length === 0)
        expect([number, verdict(program, arch, number)]).toEqual([number, rule.error]);
    }
  });

  test('kills what calls by the numbers of another architecture, and knows neither newer calls nor those of x32', () => {
    for (const other of others) expect(verdict(program, other, 0)).toBe('killed');
    for (const number of [NEWEST_CALL + 1, 0x3fffffff, 0x40000000, 0x40000000 + 41, 0x7fffffff, 0xffffffff])
      expect(verdict(program, arch, number)).toBe(ENOSYS);
  });

  test('allows sockets of four families, and of netlink that of routes alone', () => {
    for (const family of [1, 2, 10]) expect(call('socket', family, 1, 0)).toBe(0);
    expect(call('socket', 16, 3, 0)).toBe(0);
    for (const protocol of [1, 9, 15, 16]) expect(call('socket', 16, 3, protocol)).toBe(EAFNOSUPPORT);
    for (const family of [0, 3, 17, 29, 38, 40, 44, -1]) expect(call('socket', family, 1, 0)).toBe(EAFNOSUPPORT);
    // The kernel reads 32 bits of it.
    expect(call('socket', 0x1_0000_0028n, 1, 0)).toBe(EAFNOSUPPORT);
    expect([call('socketpair', 1), call('socketpair', 2)]).toEqual([0, EAFNOSUPPORT]);
  });

  test('allows threads and processes, but no namespaces of their own', () => {
    for (const flags of [0x11, 0x4111, 0x3d0f00, 0x1200011]) expect(call('clone', flags)).toBe(0);
    for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000])
      expect(call('clone', flag | 0x11)).toBe(EPERM);
    expect(call('clone3')).toBe(ENOSYS);
  });

  test('allows small segments and sets of System V, which no limit counts', () => {
    expect([call('shmget', 0, 56), call('shmget', 0, 16_384), call('shmget', 0, 16_385)]).toEqual([0, 0, ENOSYS]);
    expect(call('shmget', 0, 0x1_0000_0000n)).toBe(ENOSYS);
    expect([call('semget', 0, 17), call('semget', 0, 32_000)]).toEqual([0, ENOSYS]);
  });

  test('allows the usual personalities', () => {
    for (const known of [0, 8, 0x20000, 0x20008, 0xffffffff]) expect(call('personality', known)).toBe(0);
    expect(call('personality', 0x400000)).toBe(EPERM);
  });
});

test('an architecture with unknown calls has no sandbox', () => {
  expect(() => systemCallFilter('riscv64')).toThrow('no filter of system calls for riscv64');
});

const LIMITS = { timeoutMs: 15_000, maxOutputBytes: 65_536, memoryBytes: 2 ** 29, maxProcesses: 64 };
const probe = await probeSandbox({ path: '/usr/local/bin:/usr/bin:/bin', privateFolders: [], ...LIMITS });
const perl = existsSync('/usr/bin/perl');
const here = process.arch === 'x64' ? 0 : 1;
if (!probe.ok) console.warn(`\n*** SKIPPED: the filter of system calls behind the walls. ${probe.why} ***\n`);
else if (!perl)
  console.warn('\n*** SKIPPED: the filter of system calls behind the walls. There is no /usr/bin/perl. ***\n');

describe.skipIf(!probe.ok || !perl)('behind the walls', () => {
  /** Makes calls there, and answers the error of each; 0 for one that worked. Nothing is done with what they open. */
  async function make(calls: readonly (readonly [name: string, ...args: number[]])[]) {
    const numbers = calls.map(([name, ...args]) => {
      const rule = CALL_RULES.find((rule) => rule.name === name)!;
      return [rule.numbers[here]!, ...args].join(', ');
    });
    const lines = numbers.map((args) => `$! = 0; print syscall(${args}) < 0 ? $! + 0 : 0, "\\n";`);
    const command = `cat >/tmp/calls <<'END'\n${lines.join('\n')}\nEND\n/usr/bin/perl /tmp/calls`;
    const { signal } = new AbortController();
    const result = await runInSandbox(probe.ok ? probe.grant : null!, {
      workspace: temporaryDirectory(),
      command,
      signal,
    });
    const errors = result.output.trim().split('\n').map(Number);
    return Object.fromEntries(calls.map((call, at) => [call.join(' '), errors[at]]));
  }

  test('keys, io_uring, bpf, userfaultfd, ptrace and namespaces are refused', async () => {
    const answers = await make([
      ['keyctl', 0, -3, 1],
      ['add_key', 0, 0, 0, 0, -3],
      ['request_key', 0, 0, 0, -3],
      ['io_uring_setup', 1, 0],
      ['bpf', 0, 0, 0],
      ['userfaultfd', 0],
      ['ptrace', 0, 0, 0, 0],
      ['process_vm_readv', 1, 0, 0, 0, 0, 0],
      ['perf_event_open', 0, 0, -1, -1, 0],
      ['unshare', 0x10000000],
      ['setns', 0, 0],
    ]);
    expect(new Set(Object.values(answers))).toEqual(new Set([EPERM]));
  });

  test('memory that belongs to no process is not available', async () => {
    const answers = await make([
      ['memfd_create', 0, 0],
      ['memfd_secret', 0],
      ['shmget', 0, 2 ** 20, 0o1600],
      ['msgget', 0, 0o1600],
    ]);
    expect(new Set(Object.values(answers))).toEqual(new Set([ENOSYS]));
    expect(Object.values(await make([['shmget', 0, 56, 0o1600]]))).toEqual([0]);
  });

  test('sockets are of the families that programs need, and no others', async () => {
    const answers = await make([
      ['socket', 1, 1, 0],
      ['socket', 2, 1, 0],
      ['socket', 16, 3, 0],
      // To the host of a virtual machine, which no network namespace closes; to the kernel's ciphers; of raw packets.
      ['socket', 40, 1, 0],
      ['socket', 38, 5, 0],
      ['socket', 17, 3, 0],
      ['socket', 16, 3, 9],
    ]);
    expect(Object.values(answers)).toEqual([0, 0, 0, EAFNOSUPPORT, EAFNOSUPPORT, EAFNOSUPPORT, EAFNOSUPPORT]);
  });
});
