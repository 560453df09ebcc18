// Finds the file that a thread or a process executes.

/** The URL of a worker's file. `path`: as an import of the module at `from` would name it; in `dist/` it ends in `.js`. */
export function workerFile(path: `${string}.ts`, from: string): URL {
  return new URL(from.endsWith('.ts') ? path : path.replace(/\.ts$/, '.js'), from);
}
