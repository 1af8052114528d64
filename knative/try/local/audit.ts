// `npm run audit`: what is stored in which version, in a snapshot, in any etcd, or, when nothing is
// named, in that of what `npm start`, or `npm run cluster`, holds up; and whether an upgrade may be
// applied, which is tried on an API server that is started for it.
import { runAsProgram } from '../../../functions/storage-audit/program.ts';
import { etcdUrlOfPlane } from './watch/address.ts';

await runAsProgram({
  findEtcd: etcdUrlOfPlane,
  startScratch: async (signal) => {
    // Only `--against` needs all that starts parts.
    const { startScratch } = await import('./scratch.ts');
    return startScratch(signal);
  },
});
