import { descriptorType, FlightDescriptor } from '@framehold/grpc/flight';
import { AppError } from '../../core/errors/app-error.ts';
import { type FrameName, isSharedName, parseFrameName, splitSharedName } from '../../core/names/frame-name.ts';

/** The object of a FlightDescriptor. */
export type Descriptor =
  | { readonly kind: 'handle'; readonly handle: FrameName }
  | { readonly kind: 'command'; readonly command: Uint8Array }
  /** Nothing: no descriptor, an empty path or an empty command. */
  | { readonly kind: 'none' };

/** Paths are `[handle]`, `["frames", handle]` and `[owner, handle]`. */
export function parseDescriptor(bytes: Uint8Array | undefined): Descriptor {
  const { type, cmd, path } = FlightDescriptor.decode(bytes ?? new Uint8Array(0));
  // Some clients leave the type out; then the field that is set decides.
  if (type === descriptorType.cmd || (type === descriptorType.unknown && cmd.length > 0)) {
    return cmd.length === 0 ? { kind: 'none' } : { kind: 'command', command: cmd };
  }
  if (type !== descriptorType.path && type !== descriptorType.unknown) {
    throw new AppError('invalid_parameter', `a descriptor of type ${type} is not known; it may be PATH or CMD`);
  }
  const parts = path.length === 2 && path[0] === 'frames' ? path.slice(1) : path;
  if (parts.length > 2) {
    throw new AppError('invalid_handle', `a path of ${path.length} parts names no frame`, {
      hint: 'a path is ["<handle>"], ["frames", "<handle>"] or ["<owner>", "<handle>"]',
    });
  }
  const name = parts.join('/');
  return name === '' ? { kind: 'none' } : { kind: 'handle', handle: parseFrameName(name) };
}

export function pathDescriptor(name: FrameName): Uint8Array {
  const path = isSharedName(name) ? Object.values(splitSharedName(name)) : [name];
  return FlightDescriptor.encode({ type: descriptorType.path, path });
}
