// `npm run audit`: what is stored in which version, in a snapshot, in any etcd, or, when nothing is
// named, in that of what `npm start`, or `npm run cluster`, holds up.
import { runAsProgram } from '../../../functions/storage-audit/program.ts';
import { etcdUrlOfPlane } from './watch/address.ts';

await runAsProgram(etcdUrlOfPlane);
