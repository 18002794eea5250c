"""What the explorer says, in English and Chinese."""

from __future__ import annotations

import re
from dataclasses import dataclass

_WIDE = re.compile("[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Phrases:
    """Texts with named places to fill in."""

    comma: str
    pause: str
    colon: str
    step: str
    follow_up: str
    of: str
    plan: str
    survey: str
    lost: str
    guides: str
    structure: str
    commands: str
    reading: str
    following: str
    words: str
    no_words: str
    check: str
    counting: str
    recall: str
    checkpoint: str
    note: str
    skill: str
    address: str
    web: str
    writing: str
    heading: str
    interrupted: str
    saw_files: str
    saw_lines: str
    saw_hits: str
    report: str
    files: str
    files_at_least: str
    not_listed: str
    kinds: str
    largest: str
    longest: str
    entries: str
    tests: str
    open_work: str
    commit: str
    word: str
    word_missing: str
    read: str
    honest: str
    done: str


ENGLISH = Phrases(
    comma=", ",
    pause="; ",
    colon=": ",
    step="Step {n}",
    follow_up="Follow-up {n}",
    of=" of {m}",
    plan=(
        "Plan: list the workspace, read what describes it, search for definitions, tests and open "
        "work, read sources from every folder, then report only what the results show."
    ),
    survey="I list the workspace",
    lost="the list of files is no longer in view, so I list the workspace again",
    guides="I read what describes the project: {paths}",
    structure="I search for definitions, tests and open work",
    commands="I ask for history and versions, with commands that change nothing",
    reading="I read {paths}",
    following="{what}, and look where `{name}` is used",
    words="I search for words of the instruction: {words}",
    no_words="I look for the files to answer from",
    check="I check the counts once more before I report",
    counting="I read what the count of lines in the background found, and end it",
    recall="I search what left my view for: {words}",
    checkpoint="I set a checkpoint behind the overview",
    note="Listed, read the guides, searched for definitions, tests and open work. Open: sources.",
    skill="I read the skill {name}, which the system message lists",
    address="I read the address that the instruction names: {url}",
    web="I search the web, as the instruction asks: {words}",
    writing="I write what the results show to {path}",
    heading="I make the first line of {path} its heading",
    interrupted="a new instruction came in; I search for its words: {words}",
    saw_files="{count} files listed",
    saw_lines="{path} has {count} lines",
    saw_hits="`{pattern}`: {count} hits in {files} files",
    report="What the results show:",
    files="Files: {count}",
    files_at_least="Files: at least {count} (the list was cut)",
    not_listed="The workspace could not be listed, so there is no count of its files.",
    kinds="By ending: {kinds}",
    largest="Largest: {files}",
    longest="Most lines: {files}",
    entries="Entry points, by search: {paths}",
    tests="Test files by name: {count}",
    open_work="Notes of open work (TODO, FIXME): {count} in {files} files",
    commit="Newest commit: {commit}",
    word="`{word}`: {count} hits, first in {paths}",
    word_missing="`{word}`: no hits",
    read="Read and still in view: {count} files, the newest {paths}",
    honest="I am a scripted explorer: I look and count. No language model judged any of this.",
    done="The exploration is done.",
)

CHINESE = Phrases(
    comma="、",
    pause="；",
    colon="：",
    step="第 {n} 步",
    follow_up="追问第 {n} 步",
    of="，共 {m} 步",
    plan=(
        "计划：列出工作区，阅读说明文件，搜索定义、测试和未完成的工作，"
        "阅读各目录的源码，最后只报告结果中看到的内容。"
    ),
    survey="列出工作区的文件",
    lost="文件列表已不在上下文中，重新列出工作区",
    guides="阅读说明项目的文件：{paths}",
    structure="搜索定义、测试和未完成的工作",
    commands="用不改动任何东西的命令查看历史和版本",
    reading="阅读 {paths}",
    following="{what}，并查找 `{name}` 在何处使用",
    words="搜索指令中的词：{words}",
    no_words="查找可用来回答的文件",
    check="报告之前再核对一次数目",
    counting="读取后台统计行数的结果，然后结束它",
    recall="在已移出上下文的内容中搜索：{words}",
    checkpoint="在概览之后设置检查点",
    note="已列出文件，读过说明，搜索过定义、测试和未完成的工作。未完成：源码。",
    skill="阅读系统消息中列出的技能 {name}",
    address="阅读指令中给出的网址：{url}",
    web="按指令的要求搜索网络：{words}",
    writing="把结果中看到的内容写入 {path}",
    heading="把 {path} 的第一行改为标题",
    interrupted="收到新的指令，先搜索其中的词：{words}",
    saw_files="列出了 {count} 个文件",
    saw_lines="{path} 有 {count} 行",
    saw_hits="`{pattern}`：{files} 个文件中有 {count} 处",
    report="结果中看到的内容：",
    files="文件：{count} 个",
    files_at_least="文件：至少 {count} 个（列表被截断）",
    not_listed="无法列出工作区，因此没有文件数目。",
    kinds="按扩展名：{kinds}",
    largest="最大的文件：{files}",
    longest="行数最多：{files}",
    entries="搜索到的入口：{paths}",
    tests="按名称看是测试的文件：{count} 个",
    open_work="未完成工作的标记（TODO、FIXME）：{files} 个文件中 {count} 处",
    commit="最新提交：{commit}",
    word="`{word}`：{count} 处，最先出现在 {paths}",
    word_missing="`{word}`：没有找到",
    read="读过且仍在上下文中：{count} 个文件，最近的是 {paths}",
    honest="我是按脚本行动的探索者：只查看和计数，没有语言模型对此作过判断。",
    done="探索已完成。",
)


def phrases_for(instruction: str) -> Phrases:
    """Those of the instruction's language."""
    return CHINESE if _WIDE.search(instruction) else ENGLISH
