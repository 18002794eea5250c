"""Which tests hold what the spec of compaction says, by its sections: none of them may vanish."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
HELD: dict[str, dict[str, str]] = {
    "1 invariants": {
        "I1 to I8 and I10, every preset, any list": "core/test_presets.py::no_rule_is_ever_broken",
        "in any order, in a row": "core/test_presets.py::compactions_in_a_row_keep_every_rule",
        "I1 a cut group is illegal": "core/test_invariants.py::a_cut_through_a_group_is_illegal",
        "I2 system stays": "core/test_invariants.py::the_system_message_must_stay",
        "I3 pins stay": "core/test_invariants.py::a_pin_must_stay",
        "I4 a trace": "core/test_invariants.py::rows_must_not_leave_without_a_trace",
        "I5 undo byte for byte": "core/test_edits.py::undo_brings_back_the_list_byte_for_byte",
        "I5 at any later time": "web/test_machine.py::"
        "no_rule_is_broken_whatever_happens_to_a_stored_session",
        "I6 sizes sum": "core/test_plan.py::sizes_after_a_plan_are_those_of_a_recount",
        "I7 shrinks or is refused": "core/test_invariants.py::a_change_must_shrink_the_list",
        "I7 a summary not smaller": "core/test_keep_recent.py::"
        "a_note_larger_than_what_it_stands_for_is_refused",
        "I8 fresh results": "core/test_invariants.py::results_that_no_reply_has_seen_must_stay",
        "I8 cut to a fair share": "core/test_stages.py::"
        "newest_results_over_the_limit_are_cut_to_a_fair_share",
        "I9 again changes nothing": "core/test_presets.py::a_second_run_at_once_changes_nothing",
        "I10 the instruction": "core/test_invariants.py::the_instruction_of_the_moment_must_stay",
        "a broken stage is rolled back": "core/test_third_party.py::"
        "a_stage_that_breaks_a_rule_is_rolled_back_and_the_next_goes_on",
        "repair, each kind": "core/test_repair.py::only_what_is_broken_is_repaired",
        "repair, once": "core/test_repair.py::any_list_becomes_legal_once_and_nothing_is_lost",
        "repair, nothing else": "core/test_repair.py::a_legal_list_is_left_alone",
        "repair, interrupted": "core/test_repair.py::"
        "after_a_crash_the_answer_says_that_it_may_have_run",
    },
    "2 one plan": {
        "keep is the rest": "core/test_plan.py::rows_that_a_plan_does_not_name_are_kept",
        "all stages, one plan": "core/test_stages.py::"
        "a_run_over_all_stages_is_one_plan_on_the_first_list",
        "the last fate holds": "core/test_draft.py::"
        "one_plan_leads_to_the_list_that_all_of_them_led_to",
        "fates and origins": "core/test_closed_lists.py::a_closed_list_is_spelt_as_its_spec_has_it",
        "third parties": "core/test_third_party.py::"
        "a_strategy_of_an_installed_package_is_used_by_its_name",
    },
    "3 keep-recent": {
        "over the budget, and more than keep + 1": "core/test_keep_recent.py::"
        "nothing_is_done_with_few_messages_however_large",
        "at the budget nothing": "core/test_keep_recent.py::"
        "nothing_is_done_at_the_budget_and_below",
        "where the cut falls": "core/test_keep_recent.py::cut_never_falls_inside_a_tool_group",
        "only a standing summary": "core/test_keep_recent.py::"
        "a_standing_summary_alone_is_not_summarized_again",
        "an older summary goes with it": "core/test_keep_recent.py::"
        "an_old_summary_goes_into_the_next_one",
        "pins follow in birth order": "cases/test_goal.py::pinned_message_kept_once_in_order",
        "a chat without tools": "core/test_headroom.py::a_chat_without_tools_is_compacted_too",
        "thrash of its numbers": "core/test_keep_recent.py::the_seeds_own_numbers_thrash",
        "the ledger of 12 turns": "core/test_keep_recent.py::"
        "the_ledger_of_twelve_turns_has_one_compaction",
    },
    "4 six stages": {
        "snip": "core/test_stages.py::snip_keeps_the_newest_five_results_and_every_pairing",
        "snip, stale first": "core/test_stages.py::snip_takes_stale_results_of_a_group_first",
        "micro": "core/test_stages.py::micro_tells_tool_status_and_original_size",
        "micro, thinking": "core/test_stages.py::"
        "micro_cuts_unsigned_thinking_and_drops_what_is_signed",
        "collapse": "core/test_stages.py::collapse_counts_calls_and_how_they_ended",
        "auto": "core/test_stages.py::auto_summarizes_all_but_the_last_three_widened_to_groups",
        "partial": "core/test_stages.py::partial_needs_no_model_and_keeps_the_last_five",
        "partial, up to a checkpoint": "core/test_stages.py::"
        "partial_may_take_only_what_stands_before_the_last_checkpoint",
        "last resort": "core/test_stages.py::"
        "last_resort_leaves_system_pins_instruction_and_one_note",
        "status never guessed": "core/test_ledger_extract.py::"
        "status_is_metadata_and_never_guessed_from_text",
        "thresholds one by one": "core/test_closed_lists.py::"
        "to_override_one_threshold_leaves_the_others",
        "in order, measured anew": "core/test_stages.py::"
        "stages_run_in_order_and_only_where_they_are_due",
        "until the target": "core/test_stages.py::snip_stops_at_the_target",
        "min_gain": "core/test_stages.py::"
        "a_stage_that_frees_too_little_is_skipped_unless_a_person_asks",
        "not again until grown": "core/test_headroom.py::"
        "what_failed_is_not_tried_again_until_the_list_has_grown",
        "a weak run rests": "core/test_headroom.py::"
        "a_weak_run_rests_its_stage_until_the_next_ones_threshold",
        "two weak runs stop": "core/test_headroom.py::"
        "two_weak_runs_of_the_last_stage_stop_automatic_compaction",
        "until a person resumes": "web/test_compaction_rows.py::"
        "thrash_stops_automatic_compaction_until_a_person_resumes",
        "or pins or profile change": "web/test_compaction_rows.py::"
        "other_pins_and_a_new_version_of_the_profile_end_thrash",
        "over budget, told once": "core/test_headroom.py::"
        "over_budget_is_told_once_and_names_the_largest_part",
        "never over a known window": "core/test_headroom.py::"
        "a_request_that_cannot_fit_a_known_window_is_never_sent",
        "an assumed one blocks nothing": "core/test_headroom.py::an_assumed_window_blocks_nothing",
        "hybrid": "core/test_presets.py::the_first_stage_starts_where_its_capped_buffer_begins",
        "hybrid, 76% of 32K": "core/test_presets.py::"
        "at_76_percent_of_a_32k_window_only_the_first_stage_may_run",
        "an empty session": "core/test_presets.py::an_empty_session_never_triggers",
        "task borders": "core/test_headroom.py::"
        "a_run_may_end_with_a_compaction_at_the_border_of_the_task",
        "ask": "web/test_approvals.py::it_asks_once_and_holds_no_worker",
        "ask, 15 minutes": "web/test_approvals.py::nobody_in_fifteen_minutes_is_a_no",
        "off": "core/test_headroom.py::automatic_off_leaves_the_list_alone",
        "pins win": "core/test_stages.py::a_pin_is_spared_by_every_strategy",
        "its own fork, no tools": "core/test_headroom.py::a_summary_takes_the_place_of_the_note",
        "input too long": "core/test_headroom.py::"
        "an_input_that_was_too_long_is_shortened_at_most_three_times",
        "breaker": "core/test_headroom.py::"
        "three_failures_open_the_breaker_and_a_person_may_override_it",
        "breaker, half open": "core/test_breaker.py::"
        "a_trial_that_fails_opens_it_again_and_one_that_works_closes_it",
        "timeout": "core/test_headroom.py::a_summary_that_takes_too_long_is_given_up",
    },
    "5 pins": {
        "by rule, in kairo alone": "core/test_closed_lists.py::"
        "limits_and_reserves_are_those_of_their_sources",
        "no answered head lives for ever": "cases/test_goal.py::answered_head_becomes_immortal",
        "by hand, while the run goes on": "core/test_headroom.py::"
        "a_pin_that_is_set_while_the_run_goes_on_holds_at_the_next_border",
        "by suggestion": "web/test_pins_page.py::a_rule_is_suggested_and_pinned_with_one_click",
        "an end": "web/test_runner.py::a_pin_ends_with_the_turn_it_names",
        "until a commit": "web/test_commit_pins.py::"
        "a_run_that_commits_the_path_ends_the_pin_at_the_next_border",
        "the whole group": "web/test_acts.py::a_pinned_call_counts_with_its_whole_tool_group",
        "its cost": "web/test_pins_page.py::pins_that_hold_much_of_the_list_are_warned_of",
        "refused with numbers": "web/test_acts.py::"
        "a_pin_that_alone_fills_the_budget_is_refused_with_the_numbers",
        "unpinned later": "core/test_stages.py::"
        "a_message_that_is_unpinned_goes_into_the_next_summary_once",
        "brought back": "web/test_pins_page.py::"
        "a_pin_is_taken_away_and_one_that_left_is_brought_back",
    },
    "6 summaries": {
        "header, at most 40 bytes": "core/test_breakdown.py::"
        "a_system_message_with_our_header_is_a_summary",
        "no part of the next source": "core/test_summarizer.py::"
        "the_header_of_an_old_summary_is_no_part_of_the_next_ones_source",
        "input": "core/test_summarizer.py::"
        "calls_are_named_with_their_arguments_and_results_by_their_call",
        "content only": "core/test_summarizer.py::content_only_leaves_tools_out_as_its_source_does",
        "80% of the window": "core/test_summary_failures.py::"
        "the_source_of_a_summary_takes_at_most_80_percent_of_the_window",
        "words": "core/test_summarizer.py::"
        "words_are_runs_of_letters_and_two_cjk_characters_are_one",
        "structured, bounded": "core/test_summarizer.py::"
        "a_structured_summary_is_asked_for_by_its_headings_and_bounded_by_the_window",
        "the archive as source": "core/test_archive_summaries.py::"
        "originals_are_found_through_generations_and_behind_placeholders",
        "what was left out is counted": "core/test_archive_summaries.py::"
        "what_has_no_room_is_counted_and_the_ledger_is_never_left_out",
        "the measured default": "core/test_archive_summaries.py::"
        "the_default_is_the_source_that_holds_what_was_planted",
        "old messages are data": "core/test_summarizer.py::"
        "the_request_is_a_list_of_its_own_that_marks_the_text_as_data",
        "rejected, and why": "core/test_summary_failures.py::"
        "what_a_summarizer_returns_instead_of_a_summary_changes_nothing",
        "keep": "core/test_headroom.py::a_failed_summary_leaves_the_list_and_is_told",
        "ledger": "core/test_headroom.py::"
        "where_the_profile_says_so_the_note_has_the_ledger_under_it",
        "note": "core/test_headroom.py::where_the_profile_says_so_the_bare_note_takes_its_place",
    },
    "7 ledger": {
        "what a person says": "core/test_ledger_extract.py::"
        "a_person_states_rules_wishes_and_decisions",
        "the goal": "core/test_ledger_book.py::"
        "the_goal_is_the_first_instruction_until_another_is_set",
        "paths and commands": "core/test_ledger_extract.py::paths_and_commands_come_from_arguments",
        "values": "core/test_ledger_extract.py::a_person_names_values",
        "warnings and failures": "core/test_ledger_extract.py::results_tell_failures_and_warnings",
        "the state": "core/test_ledger_book.py::"
        "the_state_is_the_last_statement_and_the_last_list_of_to_dos",
        "later replaces": "core/test_ledger_book.py::"
        "a_later_statement_on_the_same_subject_replaces_the_earlier",
        "different subjects stay": "core/test_ledger_book.py::"
        "statements_about_different_subjects_both_stay",
        "the edges of a result": "core/test_ledger_extract.py::only_the_edges_of_a_result_are_read",
        "planted facts, generated work": "core/test_planted.py::"
        "rules_goal_and_paths_are_there_after_five_compactions",
        "planted facts, recorded work": "core/test_planted.py::"
        "facts_outlive_five_compactions_of_what_people_really_did",
        "replaced values are gone": "core/test_planted.py::"
        "a_replaced_value_is_gone_from_the_ledger",
    },
    "8 verification": {
        "all seven": "core/test_verify.py::a_sound_compaction_passes_all_seven",
        "legal, cut": "core/test_verify.py::"
        "a_result_without_its_call_is_neither_legal_nor_a_legal_cut",
        "summary": "core/test_verify.py::what_left_without_a_note_is_missed",
        "budget": "core/test_verify.py::a_list_at_its_budget_does_not_hold_it",
        "recent": "core/test_verify.py::a_tail_that_was_altered_is_told",
        "goal, paths": "core/test_verify.py::"
        "a_lost_goal_and_lost_paths_are_named_with_their_messages",
        "survival by kind": "web/test_compaction_rows.py::"
        "the_page_shows_what_was_lost_and_leads_to_its_source",
        "lint, legality": "core/test_lint.py::what_is_illegal_is_named_by_its_place",
        "lint, thrash": "core/test_lint.py::compactions_in_every_turn_are_a_thrash",
    },
    "9 hooks, audit": {
        "abort": "core/test_hooks.py::a_hook_may_abort_with_a_reason_that_is_shown",
        "inject, append": "core/test_hooks.py::a_hook_may_add_messages_before_and_after",
        "asks for one": "core/test_hooks.py::"
        "a_hook_may_have_the_list_compacted_after_a_turn_and_says_why",
        "asks in vain": "core/test_hooks.py::"
        "a_hook_that_asks_after_every_turn_is_heard_again_only_once_the_list_has_grown",
        "raises": "core/test_hooks.py::a_hook_that_raises_is_reported_and_passed_over",
        "sleeps": "core/test_hooks.py::a_hook_that_sleeps_is_reported_and_passed_over",
        "no legal message": "core/test_hooks.py::"
        "a_hook_that_adds_no_legal_message_is_reported_and_passed_over",
        "what is recorded": "web/test_compaction_rows.py::"
        "a_summary_has_its_model_tokens_cost_and_what_it_left_out",
        "by hand, a noop": "core/test_headroom.py::"
        "compact_now_with_nothing_to_do_is_a_noop_with_its_reason",
    },
    "10 presets": {
        "ordered lists": "core/test_closed_lists.py::a_preset_is_an_ordered_list_of_strategies",
        "nanohermes": "core/test_profile.py::nanohermes_has_the_numbers_of_its_source",
        "six stages": "core/test_closed_lists.py::"
        "the_six_stages_have_their_thresholds_and_what_each_leaves_alone",
        "masking": "core/test_stages.py::masking_leaves_reasoning_and_the_last_turns_untouched",
        "elastic": "core/test_stages.py::"
        "elastic_takes_most_from_what_is_most_elastic_and_nothing_from_the_instruction",
        "recall": "core/test_recalling.py::pieces_stand_in_time_order_with_their_turns",
    },
    "11 sanity": {
        "arithmetic": "core/test_profile.py::nanohermes_is_warned_of_with_its_arithmetic",
        "balanced at each window": "core/test_profile.py::balanced_is_sane_at_every_window",
        "target under the buffer": "core/test_profile.py::"
        "a_target_over_the_buffer_of_a_hybrid_stage_is_warned_of",
        "errors by name": "core/test_profile.py::nonsense_is_refused_by_name",
        "a second click": "web/test_admin.py::a_profile_that_thrashes_needs_a_second_click",
    },
    "12 swap": {
        "appended follows": "core/test_meanwhile.py::"
        "what_is_appended_while_a_summary_is_written_follows_it_unchanged",
        "once more, then stale": "core/test_meanwhile.py::"
        "a_list_that_was_revised_meanwhile_is_compacted_once_more_then_told_as_stale",
        "two at once": "cases/test_sessions.py::two_compactions_at_once",
        "killed between": "web/test_runner_recovery.py::a_worker_may_die_at_every_write_of_a_run",
        "undo": "web/test_edits.py::undo_brings_the_list_back_byte_for_byte",
        "redo": "web/test_edits.py::undo_of_an_undo_does_it_again",
        "the fork is offered": "web/test_edits.py::"
        "after_a_request_the_undo_is_refused_and_the_fork_offered",
        "exclude": "core/test_edits.py::excluding_takes_the_whole_group_and_leaves_one_line_a_run",
        "restore": "core/test_edits.py::"
        "a_message_that_left_comes_back_at_its_old_place_after_the_summary",
        "new topic": "core/test_edits.py::a_new_topic_leaves_system_pins_and_one_note",
        "hold": "web/test_edits.py::an_undo_holds_automatic_compaction_until_the_list_has_grown",
    },
}


@pytest.mark.parametrize("section", HELD)
def test_every_test_that_holds_the_spec_is_there(section: str) -> None:
    missing = [
        f"{said}: {place}" for said, place in HELD[section].items() if not _is_there(*_of(place))
    ]
    assert missing == []


def _of(place: str) -> tuple[str, str]:
    path, name = place.split("::")
    return path, f"test_{name}"


def _is_there(path: str, name: str) -> bool:
    return name in _names(path)


@cache
def _names(path: str) -> frozenset[str]:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = ast.parse((TESTS / path).read_text()).body
    return frozenset(one.name for one in nodes if isinstance(one, functions))
