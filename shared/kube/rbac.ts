// From a 403 to the RBAC rule that would have allowed the request, ready to be pasted under
// `rules:`.
import type { About } from './request.ts';

/**
 * RBAC's own words; the verb may be another than ours, as an apply that would create also needs
 * `create`.
 */
const RESOURCE = /cannot (\S+) resource "([^"]+)" in API group "([^"]*)"/;
const PATH = /cannot (\S+) path "([^"]+)"/;

/** Verbs that know their object's name when they are checked; `create` does not. */
const NAMED_VERBS = new Set(['get', 'list', 'watch', 'update', 'patch', 'delete']);

/** And not a quota, a webhook or a policy. */
export const isOfRbac = (message: string): boolean => RESOURCE.test(message);

export function explainRefusal(about: About, message: string): string {
  const [, pathVerb, path] = PATH.exec(message) ?? [];
  if (path !== undefined) {
    return `A ClusterRole needs the rule {nonResourceURLs: ["${path}"], verbs: ["${pathVerb}"]}.`;
  }
  const [, verb = '', resource, group = ''] = RESOURCE.exec(message) ?? [];
  if (resource === undefined) {
    return (
      'RBAC allows it; a quota, an admission webhook or a policy does not: ' +
      'change that, or the object.'
    );
  }
  const { namespace, name } = 'ref' in about ? about : {};
  const names = name !== undefined && NAMED_VERBS.has(verb) ? `, resourceNames: ["${name}"]` : '';
  const role = namespace === undefined ? 'A ClusterRole' : `A Role in namespace ${namespace}`;
  const rule = `apiGroups: ["${group}"], resources: ["${resource}"], verbs: ["${verb}"]${names}`;
  return `${role} needs the rule {${rule}}.`;
}
