// Loaded into a program before its own code, as Node's --import: the names of pods lead to their
// addresses, as the DNS of a cluster has it. They stand in HOSTS.
import dns from 'node:dns';

type Done = (error: Error | null, found: unknown, family?: number) => void;

const hosts = JSON.parse(process.env['HOSTS'] ?? '{}') as Readonly<Record<string, string>>;
const { lookup } = dns;
const named = (name: string, options: { readonly all?: boolean }, done: Done): void => {
  const address = hosts[name];
  if (address === undefined) lookup(name, options, done);
  else if (options.all === true) done(null, [{ address, family: 4 }]);
  else done(null, address, 4);
};

Object.assign(dns, { lookup: named });
