// The content of an image: files, each with the place its content comes from, and the container's
// start command.

/** `host` is a path on this machine; `link` is the target of a symbolic link. */
export type FileSource =
  | { readonly host: string }
  | { readonly text: string }
  | { readonly link: string }
  | { readonly directory: true };

export interface ImageFile {
  /** Absolute, in the image. Directories above it need no entries of their own. */
  readonly path: string;
  /** 0o644 for files, 0o755 for directories; a link has none. */
  readonly mode?: number;
  readonly from: FileSource;
}

export interface ImageSpec {
  /** With a tag, as `dev.local/ballast/metadata:0.1.0`; Knative pulls nothing from `dev.local`. */
  readonly name: string;
  /** The layer below: what several images share is stored and fetched once. */
  readonly base?: readonly ImageFile[];
  readonly files: readonly ImageFile[];
  readonly entrypoint: readonly string[];
  /** Arguments that a container may replace. */
  readonly arguments?: readonly string[];
  /** Numeric, since `runAsNonRoot` cannot look names up; 65532:65532 when absent. */
  readonly user?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly workingDir?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** The user that distroless images made customary: it owns nothing on any machine. */
export const NOBODY_IN_PARTICULAR = '65532:65532';
