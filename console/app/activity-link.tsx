import { activity } from '../navigation/activity.ts';

/** Work in the background of other views. */
export function ActivityLink() {
  const now = activity.value;
  if (now === undefined) return null;
  const { title, share, href } = now;
  const percent = share === undefined ? '' : `, ${Math.floor(share * 100)} %`;
  return (
    <a class="activity" href={href} title={`${title}${percent}`}>
      <progress aria-label={title} {...(share !== undefined && { value: share })} max={1} />
      <span class="label">
        {title}
        {percent}
      </span>
    </a>
  );
}
