// The note about clients that know pods and not the Service, which nobody leads over. Pure.
import type { Reason } from '../../shared/kube/conditions.ts';
import { isOneService, type LegacyEtcd } from './legacy.ts';

/** `fate`: what becomes of them. */
export const directClients = (legacy: LegacyEtcd, fate: string): Reason => ({
  reason: 'DirectClients',
  message:
    'Clients that connect to pods by their addresses, or by names of Service ' +
    `${legacy.headlessService}, are ${fate}: lead them to ` +
    `${isOneService(legacy) ? 'the name of the Service itself' : 'the client Service'} before.`,
});
