// `npm start`: a real control plane on this machine, shown live until Ctrl-C.
import { runCommand } from './view/command.ts';

const about = `Runs a real control plane on this machine until Ctrl-C: etcd, kube-apiserver,
nats-server, a cluster of nodes and pods played by KWOK, Knative's own source adapters, and our
functions, wired as the manifests under knative/ say.`;

process.exitCode = await runCommand(
  { usage: 'npm start -- [--help] [OPTION...]', about, functions: undefined },
  process.argv.slice(2),
);
