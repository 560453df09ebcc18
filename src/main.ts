// Arguments in, exit code out.
import process from 'node:process';
import { isatty } from 'node:tty';
import { commandNameOf, executableOf } from './cli/frame/command-name.ts';
import type { Io } from './cli/frame/io.ts';
import { runProgram } from './cli/program.ts';
import { readEnvironment } from './config/environment.ts';
import { keepCompiledCode } from './disk/compiled-code.ts';

const environment = readEnvironment();
leaveClosedDirectory();

const io: Io = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  terminal: {
    stdin: isatty(0),
    stdout: isatty(1),
    stderr: isatty(2),
  },
  // A terminal that doesn't know its size says 0.
  columns: process.stdout.columns || process.stderr.columns || 80,
  now: Date.now,
  environment,
  commandName: commandNameOf(process.argv[1], process.cwd(), environment['PATH']),
  executable: executableOf(process.argv[1], process.execPath),
  onSignal(listener) {
    process.on('SIGINT', listener).on('SIGTERM', listener);
    return () => void process.off('SIGINT', listener).off('SIGTERM', listener);
  },
  onHangup(listener) {
    process.on('SIGHUP', listener);
    return () => void process.off('SIGHUP', listener);
  },
  loadDaemon: (dataDir) => {
    keepCompiledCode(dataDir);
    return import('./daemon/daemon.ts');
  },
};

// By default, Node.js opens its debugger on this signal, for everyone on this machine.
process.on('SIGUSR1', () => undefined);

process.exit(await runProgram(process.argv.slice(2), io));

/** `runuser` and `sudo -u` keep the directory of root, which may be closed to the user. Nothing works in such a directory. */
function leaveClosedDirectory(): void {
  try {
    process.cwd();
  } catch {
    process.chdir('/');
  }
}
