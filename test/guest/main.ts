// `npm run guest -- COMMAND...`: runs a command as root on a machine of its own in this one, which
// has cgroup version 2 alone. Ends with the command's code; with 2 when there is none.
const USAGE = `usage: npm run guest -- COMMAND [ARGUMENT...]

Runs a command as root on a machine that is emulated in software: cgroup version 2 alone, one
processor, all files of this machine to read. What it writes is in memory, and gone with it.

  -h, --help    this text
`;

const [first, ...rest] = process.argv.slice(2);
if (first === '--help' || first === '-h') process.stdout.write(USAGE);
else if (first === undefined || first.startsWith('-')) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else {
  // Help and refusals need none of it.
  const { runGuest } = await import('./run-guest.ts');
  const print = (text: string): void => void process.stdout.write(text);
  process.exitCode = await runGuest({ command: [first, ...rest], print });
}
