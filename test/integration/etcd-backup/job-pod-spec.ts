// The fields of the pods of Jobs that the kubelet of these tests knows.

interface Reference {
  readonly name: string;
  readonly key: string;
  readonly optional?: boolean;
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly env?: readonly {
    readonly name: string;
    readonly valueFrom: { readonly secretKeyRef: Reference };
  }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly terminationMessagePolicy?: string;
}

export interface PodSpec {
  readonly nodeName?: string;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes: readonly Volume[];
}

export interface Volume {
  readonly name: string;
  readonly secret?: {
    readonly secretName: string;
    readonly items?: readonly Item[];
    readonly optional?: boolean;
  };
  readonly configMap?: { readonly name: string; readonly items: readonly Item[] };
  readonly persistentVolumeClaim?: { readonly claimName: string };
}

interface Item {
  readonly key: string;
  readonly path: string;
}
