// The rung that makes sure that this machine can be nodes of a cluster: that it may make namespaces
// and cgroups, and that the parts of a node are found or built.

import { whyNotHere } from '../../knative/cluster/preflight.ts';
import { nodePartNames } from '../../knative/local/parts/catalog.ts';
import { haveParts } from './have-parts.ts';
import { cannotBeHadCode } from './rungs.ts';

async function main(): Promise<number> {
  const why = await whyNotHere();
  if (why === undefined) return haveParts(nodePartNames);
  process.stdout.write(`A cluster cannot run here. ${why}\n`);
  return cannotBeHadCode;
}

process.exitCode = await main();
