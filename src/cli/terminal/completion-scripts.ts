// The completion scripts of the three shells. Each walks the words before the cursor to a path of nouns and verbs.

/** A word to complete, and its description. */
export interface Word {
  readonly word: string;
  readonly about: string;
}

/** A flag: its spellings, whether it takes a value, and the values if there are only a few. */
export interface Flag {
  readonly spellings: readonly string[];
  readonly about: string;
  readonly takesValue: boolean;
  readonly values: readonly string[];
}

/** What can follow a path of nouns and verbs; the root's path is empty. */
export interface CompletionNode {
  readonly path: readonly string[];
  readonly words: readonly Word[];
  readonly flags: readonly Flag[];
}

/** A script for bash. Completes file names where a flag takes any value. */
export function bashScript(nodes: readonly CompletionNode[]): string {
  return `# bash completion for errand
_errand() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} path= skip= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [ -n "$skip" ]; then skip=; continue; fi
    case "\${COMP_WORDS[i]}" in
      ${takers(nodes)}) skip=1; continue ;;
    esac
    case "$path \${COMP_WORDS[i]}" in
      ${steps(nodes)}) path="$path \${COMP_WORDS[i]}" ;;
    esac
  done
  COMPREPLY=()
  if [ -n "$skip" ]; then
    case "$path $prev" in
${valueCases(nodes, (values) => `COMPREPLY=($(compgen -W ${quoted(values.join(' '))} -- "$cur"))`)}
    esac
    return
  fi
  case "$path" in
${nodes.map((node) => `      ${quoted(pathOf(node))}) COMPREPLY=($(compgen -W ${quoted(allWords(node).join(' '))} -- "$cur")) ;;`).join('\n')}
  esac
}
complete -o default -F _errand errand
`;
}

/** A script for zsh, to be saved as _errand in a directory of fpath. */
export function zshScript(nodes: readonly CompletionNode[]): string {
  return `#compdef errand
# zsh completion for errand
_errand() {
  local place= skip= word
  local -a candidates
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ -n $skip ]]; then skip=; continue; fi
    case $word in
      ${takers(nodes)}) skip=1; continue ;;
    esac
    case "$place $word" in
      ${steps(nodes)}) place="$place $word" ;;
    esac
  done
  if [[ -n $skip ]]; then
    case "$place \${words[CURRENT-1]}" in
${valueCases(nodes, (values) => `compadd -- ${values.map(quoted).join(' ')}`)}
      *) _files ;;
    esac
    return
  fi
  case $place in
${nodes.map((node) => `    ${quoted(pathOf(node))}) candidates=(${described(node)}) ;;`).join('\n')}
  esac
  _describe errand candidates || _files
}
if [[ $funcstack[1] == _errand ]]; then _errand "$@"; else compdef _errand errand; fi
`;
}

/** A script for fish. */
export function fishScript(nodes: readonly CompletionNode[]): string {
  const lines = nodes.flatMap((node) => {
    const here = `-n ${quoted(`__errand_at ${quoted(pathOf(node))}`)}`;
    const words = node.words.map(
      ({ word, about }) => `complete -c errand -f ${here} -a ${quoted(word)} -d ${quoted(about)}`,
    );
    return [...words, ...node.flags.map((flag) => `complete -c errand ${here} ${fishFlag(flag)}`)];
  });
  return `# fish completion for errand
function __errand_at
  set -l place ''
  set -l skip ''
  for word in (commandline -opc)[2..-1]
    if test -n "$skip"
      set skip ''
      continue
    end
    if contains -- $word ${takers(nodes).replaceAll('|', ' ')}
      set skip 1
      continue
    end
    if contains -- "$place $word" ${steps(nodes).replaceAll('|', ' ')}
      set place "$place $word"
    end
  end
  test "$place" = "$argv[1]"
end
${lines.join('\n')}
`;
}

const pathOf = ({ path }: CompletionNode) => path.map((word) => ` ${word}`).join('');

const allWords = ({ words, flags }: CompletionNode) => [
  ...words.map(({ word }) => word),
  ...flags.flatMap(({ spellings }) => spellings),
];

/** The flags that take a value, as a pattern of alternatives. */
function takers(nodes: readonly CompletionNode[]): string {
  const flags = nodes.flatMap((node) => node.flags).filter(({ takesValue }) => takesValue);
  return [...new Set(flags.flatMap(({ spellings }) => spellings))].join('|');
}

/** Every path except the root's, as a pattern of alternatives. */
function steps(nodes: readonly CompletionNode[]): string {
  return nodes
    .filter(({ path }) => path.length > 0)
    .map((node) => quoted(pathOf(node)))
    .join('|');
}

function valueCases(nodes: readonly CompletionNode[], action: (values: readonly string[]) => string): string {
  const cases = nodes.flatMap((node) =>
    node.flags
      .filter(({ values }) => values.length > 0)
      .map(({ spellings, values }) => {
        const patterns = spellings.map((spelling) => quoted(`${pathOf(node)} ${spelling}`)).join('|');
        return `      ${patterns}) ${action(values)} ;;`;
      }),
  );
  return cases.join('\n');
}

function described({ words, flags }: CompletionNode): string {
  const all = [...words, ...flags.flatMap(({ spellings, about }) => spellings.map((word) => ({ word, about })))];
  return all.map(({ word, about }) => quoted(about === '' ? word : `${word}:${about}`)).join(' ');
}

function fishFlag({ spellings, about, takesValue, values }: Flag): string {
  const names = spellings.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const value = values.length > 0 ? [`-x -a ${quoted(values.join(' '))}`] : takesValue ? ['-r'] : [];
  return [...names, ...value, `-d ${quoted(about)}`].join(' ');
}

/** Quotes for all three shells: a quote in the text ends the quotation, is escaped, and starts a new one. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
