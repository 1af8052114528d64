// Things to know of a takeover in which members join, that do not speak against it. Pure.
import type { Reason } from '../../../shared/kube/conditions.ts';
import { directClients } from '../direct-clients.ts';
import type { LegacyEtcd } from '../legacy.ts';

export const notesToJoin = (legacy: LegacyEtcd): readonly Reason[] => [
  directClients(legacy, 'not led over, and cut off when that member leaves'),
  {
    reason: 'StaysOld',
    message:
      'Members that join know each other without TLS, as the old ones do, and stay on 3.5: ' +
      'tls.peers.mode does not change, and a cluster that grew up from 3.3 goes no further. An ' +
      'EtcdRestore of a backup does both, and so does spec.mode: Restore.',
  },
];
