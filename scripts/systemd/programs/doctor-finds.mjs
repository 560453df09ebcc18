// What `errand doctor -o json` (standard input) says: `state ID` of one check, or `mend`, all remedies as a script, in the order that
// the command shows them in.
const [what, id] = process.argv.slice(2);
let text = '';
for await (const chunk of process.stdin) text += chunk;
const { checks } = JSON.parse(text);
if (what === 'state') process.stdout.write(`${checks.find((check) => check.id === id).state}\n`);
else {
  const last = (check) => Number(check.id === 'daemon');
  const mends = checks.filter(({ remedy }) => remedy !== null).sort((one, other) => last(one) - last(other));
  for (const { id: of, state, evidence, remedy } of mends)
    process.stdout.write(`# ${of} ${state}: ${evidence}\n${remedy}\n`);
}
