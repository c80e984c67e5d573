"""Define the forms to upload a media file, and to change its description and transcript."""

from __future__ import annotations

from typing import Any

from django import forms

from study.design.media.media_checks import check_size, endings, stored_name
from study.design.media.media_errors import MediaError
from study.design.media.media_limits import KINDS, MOST_FILES, limit_words, media_limits
from study.design.models import StudyMedia


class MediaTextForm(forms.ModelForm):  # type: ignore[type-arg]
    """The description and the transcript of a stored file."""

    class Meta:
        model = StudyMedia
        fields = ("alt", "transcript")
        widgets = {"transcript": forms.Textarea({"rows": 6})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["alt"].required = True


class MediaUploadForm(forms.Form):
    """A new file with its description."""

    file: Any = forms.FileField(
        label="File", widget=forms.ClearableFileInput({"accept": ",".join(f".{one}" for one in KINDS)})
    )
    alt = forms.CharField(
        label="Description",
        max_length=300,
        help_text="What an image shows, for people who do not see it. For other files: their title.",
    )
    transcript = forms.CharField(
        label="Transcript",
        required=False,
        max_length=50_000,
        widget=forms.Textarea({"rows": 4}),
        help_text="What is said and heard in a sound or video, for people who do not hear it.",
    )
    replaces = forms.BooleanField(label="Replace the file with this name", required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        file = self.fields["file"]
        file.widget.attrs["data-most-bytes"] = max(media_limits().values())
        file.help_text = (
            f"{endings()}. At most: {limit_words()}; {MOST_FILES} files. Spaces in the name become hyphens."
        )

    def clean_file(self) -> Any:
        """Return the uploaded file. Raises ValidationError if its name or size is refused, before its content
        is read."""
        file = self.cleaned_data["file"]
        if not file:  # False where the box to clear it was sent
            return None
        try:
            check_size(stored_name(file.name), file.size)
        except MediaError as error:
            raise forms.ValidationError(str(error)) from None
        return file


class PageUploadForm(MediaUploadForm):
    """A new file in the form of a text. The text gets it at the cursor, which a script sends, or at its end.
    Without a file, the form means nothing."""

    prefix = "upload"
    cursor = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].required = self.fields["alt"].required = False

    def text_with(self, text: str, markdown: str) -> str:
        """Return the text with the file in a paragraph of its own. Lines of the text end with `\\n`."""
        at = self.cleaned_data.get("cursor")
        at = len(text) if at is None else min(max(at, 0), len(text))
        before, after = text[:at].rstrip("\n"), text[at:].lstrip("\n")
        return "\n\n".join(part for part in (before, markdown, after) if part)
