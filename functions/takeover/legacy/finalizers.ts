// Speaks against a takeover of an object that would not end, since webhooks of its operator, which
// is stopped by then, let nobody change it. Pure.
import type { Reason } from '../../../shared/kube/conditions.ts';
import { listed } from '../../../shared/stateful/decision.ts';
import type { LegacyEtcd } from '../legacy.ts';

/** To take one off is a change, which webhooks refuse whose operator is stopped. */
export function refuseFinalizers({ finalizers }: LegacyEtcd): readonly Reason[] {
  if (finalizers.length === 0) return [];
  const message =
    `Finalizers keep the EtcdCluster from ending (${listed(finalizers)}), and while its operator ` +
    'is stopped its webhooks let nobody take them off. Take them off while it runs.';
  return [{ reason: 'FinalizersLeft', message }];
}
