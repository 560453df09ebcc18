// Makes the Debian package: the tree as plain files with Node.js beside it, and what a Debian system expects around it.
import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describeInterface } from '../../openapi/describe.ts';
import { OLDEST_SCHEMA, SCHEMA_VERSION } from '../../../src/store/engine/schema.ts';
import { runTool } from '../run-tool.ts';
import type { Target } from '../targets.ts';
import { filesBelow, type Tree } from '../tree.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const HERE = fileURLToPath(new URL('.', import.meta.url));
const SCRIPTS = ['preinst', 'postinst', 'prerm', 'postrm'];
/** Commented examples. The configuration in /etc/errand is the administrator's alone. */
const EXAMPLES = 'usr/share/errand';

export interface DebianParts {
  readonly target: Target;
  readonly tree: Tree;
  /** The program of Node.js for the target. */
  readonly node: string;
  readonly version: string;
  /** Seconds since 1970, of every file. */
  readonly epoch: number;
  readonly sbom: string;
  readonly licenses: string;
  /** The oldest C library that it runs with, such as `2.28`. */
  readonly glibc: string;
}

/** As Debian orders versions: what leads to a release is before it. */
export function debianVersion(version: string): string {
  return version.replace('-', '~');
}

/** Writes the package to `file`; `root` is a directory for its contents, made here. */
export async function makeDebian(parts: DebianParts, root: string, file: string): Promise<void> {
  const lay = layerOf(root);
  layProgram(parts, lay);
  layService(lay);
  await layDocuments(parts, root, lay);
  layControl(parts, root, lay);
  const env = { SOURCE_DATE_EPOCH: String(parts.epoch), DPKG_DEB_THREADS_MAX: '1' };
  await runTool('dpkg-deb', ['--root-owner-group', '-Zxz', '--build', root, file], { env });
}

interface Layer {
  text(place: string, contents: string | Uint8Array, mode?: number): void;
  copy(from: string, place: string, mode?: number): void;
  link(place: string, target: string): void;
}

function layerOf(root: string): Layer {
  const prepared = (place: string): string => {
    const file = path.join(root, place);
    mkdirSync(path.dirname(file), { recursive: true });
    return file;
  };
  const text: Layer['text'] = (place, contents, mode = 0o644) => {
    writeFileSync(prepared(place), contents);
    chmodSync(path.join(root, place), mode);
  };
  return {
    text,
    copy: (from, place, mode) => text(place, readFileSync(from), mode),
    link: (place, target) => symlinkSync(target, prepared(place)),
  };
}

function layProgram({ tree, node }: DebianParts, { text, copy, link }: Layer): void {
  for (const name of filesBelow(tree.directory, '**/*')) {
    const from = path.join(tree.directory, name);
    if (lstatSync(from).isFile()) copy(from, `usr/lib/errand/${name}`);
  }
  copy(node, 'usr/lib/errand/node', 0o755);
  text('usr/bin/errand', readFileSync(path.join(HERE, 'launcher')), 0o755);
  // Where the program looks for its launcher, to start itself again.
  link('usr/lib/errand/dist/errand', '../../../bin/errand');
}

function layService({ copy }: Layer): void {
  const own = (name: string) => path.join(HERE, name);
  const config = (name: string) => path.join(ROOT, 'config', name);
  for (const unit of readdirSync(config('')).filter((name) => /\.(?:service|socket)$/.test(name))) {
    copy(config(unit), `usr/lib/systemd/system/${unit}`);
  }
  copy(own('unit.conf'), 'usr/lib/systemd/system/errand.service.d/package.conf');
  copy(own('sysusers.conf'), 'usr/lib/sysusers.d/errand.conf');
  copy(own('tmpfiles.conf'), 'usr/lib/tmpfiles.d/errand.conf');
  for (const name of readdirSync(config('')).filter((file) => file.endsWith('.yaml'))) {
    copy(config(name), `${EXAMPLES}/${name}`);
  }
}

const COMPLETIONS = {
  bash: 'usr/share/bash-completion/completions/errand',
  zsh: 'usr/share/zsh/vendor-completions/_errand',
  fish: 'usr/share/fish/vendor_completions.d/errand.fish',
};

async function layDocuments({ tree, sbom, licenses }: DebianParts, root: string, { text, copy }: Layer): Promise<void> {
  const manual = path.join(root, 'manual');
  await runTool(process.execPath, [path.join(ROOT, 'scripts/commands/main.ts'), '--man', manual]);
  for (const page of filesBelow(manual, '*.1')) {
    text(`usr/share/man/man1/${page}.gz`, gzipSync(readFileSync(path.join(manual, page)), { level: 9 }));
  }
  await runTool('rm', ['-r', manual]);
  for (const [shell, place] of Object.entries(COMPLETIONS)) {
    text(place, await runTool(process.execPath, [path.join(tree.directory, 'dist/main.js'), 'completion', shell]));
  }
  const documents = 'usr/share/doc/errand';
  text(`${documents}/copyright`, licenses);
  text(`${documents}/changelog.gz`, gzipSync(readFileSync(path.join(ROOT, 'CHANGELOG.md')), { level: 9 }));
  text('usr/share/lintian/overrides/errand', readFileSync(path.join(HERE, 'lintian-overrides')));
  text(`${documents}/errand.cdx.json`, sbom);
  text(`${documents}/openapi.json`, describeInterface());
  for (const page of readdirSync(path.join(ROOT, 'docs')).filter((name) => name.endsWith('.md'))) {
    copy(path.join(ROOT, 'docs', page), `${documents}/${page}`);
  }
}

function layControl(parts: DebianParts, root: string, { text }: Layer): void {
  const version = debianVersion(parts.version);
  const files = filesBelow(root, '**/*').filter((name) => lstatSync(path.join(root, name)).isFile());
  const bytes = files.reduce((sum, name) => sum + lstatSync(path.join(root, name)).size, 0);
  const sums = files.map((name) => `${md5Of(path.join(root, name))}  ${name}\n`);
  const filled = (script: string) =>
    readFileSync(path.join(HERE, script), 'utf8')
      .replaceAll('@VERSION@', version)
      .replaceAll('@SCHEMA@', String(SCHEMA_VERSION))
      .replaceAll('@OLDEST@', String(OLDEST_SCHEMA));
  text('DEBIAN/md5sums', sums.join(''));
  text('DEBIAN/control', controlOf(parts, version, Math.ceil(bytes / 1024)));
  for (const script of SCRIPTS) text(`DEBIAN/${script}`, filled(script), 0o755);
  for (const name of ['', ...filesBelow(root, '**/*')]) {
    const place = path.join(root, name);
    if (lstatSync(place).isDirectory()) chmodSync(place, 0o755);
  }
}

/** Only to find damage, which is what Debian's tools use it for. */
function md5Of(file: string): string {
  return createHash('md5').update(readFileSync(file)).digest('hex');
}

/** Who makes the package, by the variables that Debian's tools read, otherwise who wrote the program. */
function maintainer(): string {
  const { DEBFULLNAME: name, DEBEMAIL: address } = process.env;
  if (name && address) return `${name} <${address}>`;
  const { author } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { readonly author: string };
  return author;
}

function controlOf({ target, glibc }: DebianParts, version: string, kilobytes: number): string {
  const cxx = glibc === '2.28' ? '8' : '11';
  const fields = {
    Package: 'errand',
    Version: version,
    Architecture: target.debian,
    Maintainer: maintainer(),
    'Installed-Size': kilobytes,
    Depends: `libc6 (>= ${glibc}), libstdc++6 (>= ${cxx}), init-system-helpers (>= 1.52), passwd`,
    Recommends: 'bubblewrap, systemd',
    Suggests: 'chromium',
    Section: 'net',
    Priority: 'optional',
    Description: [
      'daemon that runs autonomous agents behind the OpenAI and Anthropic protocols',
      ' Errand runs agents on behalf of users: with tools in a sandbox, files, schedules and published pages, and keeps what',
      ' they did in one database. It brings its own Node.js.',
    ].join('\n'),
  };
  return Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('');
}
