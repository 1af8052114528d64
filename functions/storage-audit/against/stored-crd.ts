// A definition as it lies in etcd: an API server stores it as v1beta1, where what all versions have
// in common stands once. Here it becomes the v1 that people apply.
import { isRecord } from '../../../shared/kube/json.ts';
import { CRD_GROUP, type Crd, crdOf, recordOf } from './crd.ts';

type Fields = Readonly<Record<string, unknown>>;

export function storedCrdOf(object: unknown): Crd {
  const crd = recordOf(object);
  if (crd['apiVersion'] !== `${CRD_GROUP}/v1beta1`) return crdOf(crd);
  const spec = recordOf(crd['spec']);
  return crdOf({ ...crd, apiVersion: `${CRD_GROUP}/v1`, spec: v1Spec(spec) });
}

/** Without columns and selectable fields, which no upgrade depends on. */
function v1Spec(spec: Fields): Fields {
  const { group, names, scope, version, versions, conversion } = spec;
  const listed: readonly unknown[] = Array.isArray(versions)
    ? versions
    : [{ name: version, served: true, storage: true }];
  return {
    group,
    names,
    scope,
    // Before v1 everything was kept unless somebody said so.
    ...(spec['preserveUnknownFields'] === false ? {} : { preserveUnknownFields: true }),
    ...(isRecord(conversion) ? { conversion: v1Conversion(conversion) } : {}),
    versions: listed.map((each) => {
      const own = recordOf(each);
      const schema = own['schema'] ?? spec['validation'];
      const subresources = own['subresources'] ?? spec['subresources'];
      return {
        name: own['name'],
        served: own['served'],
        storage: own['storage'],
        ...(schema === undefined ? {} : { schema }),
        ...(subresources === undefined ? {} : { subresources }),
      };
    }),
  };
}

function v1Conversion(conversion: Fields): Fields {
  const { strategy, webhookClientConfig: clientConfig, conversionReviewVersions } = conversion;
  if (strategy !== 'Webhook') return { strategy };
  return { strategy, webhook: { clientConfig, conversionReviewVersions } };
}
