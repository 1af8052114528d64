// The rung that makes sure that this machine can be nodes of a cluster: that it may make namespaces
// and cgroups, and that the parts of a node are found or built.

import { whyNotHere } from '../../knative/try/cluster/preflight.ts';
import { knativePartNames, nodePartNames } from '../../knative/try/local/parts/catalog.ts';
import { componentArchives } from '../../knative/try/cluster/knative/component-archives.ts';
import { haveParts } from './have-parts.ts';
import { cannotBeHadCode } from './rungs.ts';

async function main(): Promise<number> {
  const why = await whyNotHere();
  if (why === undefined) {
    return haveParts([...nodePartNames, ...knativePartNames], async (signal) => {
      await componentArchives(signal);
    });
  }
  process.stdout.write(`A cluster cannot run here. ${why}\n`);
  return cannotBeHadCode;
}

process.exitCode = await main();
