// Applies one change of users and roles. Passwords go to members alone, over TLS: what is told of a
// change names the user.
import { isEtcdFailure } from '../../../shared/etcd/admin/failure.ts';
import type { EtcdAdmin } from '../../../shared/etcd/admin.ts';
import type { EtcdLogin } from '../../../shared/etcd/admin/caller.ts';
import { applied, type StepResult, unconfirmed } from '../../../shared/stateful/steps.ts';
import { withMembers } from '../connect.ts';
import type { AuthChange } from '../decision.ts';
import type { Deps } from '../deps.ts';
import { type State, votersToAsk } from '../state.ts';
import { type AuthParts, ROOT } from './state.ts';

export async function applyAuth(
  { openAdmin }: Pick<Deps, 'openAdmin'>,
  state: State,
  change: AuthChange,
  signal: AbortSignal,
): Promise<StepResult> {
  const { cluster, pods, parts } = state;
  const { access, auth } = parts;
  if (access === undefined || auth === undefined) throw new Error('asked for users without access');
  const message = sentenceOf(change);
  try {
    await withMembers(openAdmin, { cluster, pods, access }, votersToAsk(state), (admin) =>
      make(admin, auth, change, signal),
    );
    return applied('UsersChanged', message);
  } catch (error) {
    signal.throwIfAborted();
    if (!isEtcdFailure(error)) throw error;
    return unconfirmed('etcd', error.message, { reason: 'UsersChanged', message });
  }
}

async function make(
  admin: EtcdAdmin,
  parts: AuthParts,
  change: AuthChange,
  signal: AbortSignal,
): Promise<void> {
  const { auth, users, roles } = admin;
  const options = { signal };
  switch (change.do) {
    case 'enable':
      return enable(admin, parts, signal);
    case 'disable':
      return auth.disable(options);
    case 'add-role':
      return roles.add(change.role, options);
    case 'delete-role':
      return roles.delete(change.role, options);
    case 'grant':
      return roles.grant(change.role, change.permission, options);
    case 'revoke':
      return roles.revoke(change.role, change.permission, options);
    case 'add-user':
      return change.login === 'Certificate'
        ? users.addWithoutPassword(change.user, options)
        : users.add(loginOf(parts, change.user), options);
    case 'delete-user':
      return users.delete(change.user, options);
    case 'change-password':
      return users.changePassword(loginOf(parts, change.user), options);
    case 'give-role':
      return users.grant(change.user, change.role, options);
    default:
      return users.revoke(change.user, change.role, options);
  }
}

function loginOf({ passwords }: AuthParts, user: string): EtcdLogin {
  const password = passwords.get(user);
  if (password === undefined) throw new Error(`there is no password for ${user}`);
  return { user, password };
}

/**
 * Makes root anew right before, since until then anybody may have given it another password, or
 * one that etcd never takes. Nothing of it is done while etcd asks for logins already.
 */
async function enable(
  { auth, users }: EtcdAdmin,
  { root }: AuthParts,
  signal: AbortSignal,
): Promise<void> {
  if (root === undefined) throw new Error('there is no password for root');
  const options = { signal };
  const { isEnabled } = await auth.status(options);
  if (isEnabled) return;
  try {
    await users.delete(ROOT, options);
  } catch (error) {
    if (!isEtcdFailure(error, 'USER_NOT_FOUND')) throw error;
  }
  await users.add(root, options);
  await users.grant(ROOT, ROOT, options);
  await auth.enable(options);
}

function sentenceOf(change: AuthChange): string {
  switch (change.do) {
    case 'enable':
      return 'Etcd asks for logins.';
    case 'disable':
      return 'Etcd asks for logins no more.';
    case 'add-role':
      return `Made role ${change.role}.`;
    case 'delete-role':
      return `Deleted role ${change.role}.`;
    case 'grant':
    case 'revoke':
      return `Changed what role ${change.role} permits.`;
    case 'add-user':
      return `Made user ${change.user}.`;
    case 'delete-user':
      return `Deleted user ${change.user}.`;
    case 'change-password':
      return `User ${change.user} has another password.`;
    case 'give-role':
      return `User ${change.user} has role ${change.role}.`;
    default:
      return `User ${change.user} has role ${change.role} no more.`;
  }
}
